// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What a transaction did, in order; it comes true in memory and for others only when the transaction is committed.
///
/// A transaction that fails leaves a list of events to throw away, and nothing to undo.
enum StoreEvent {
    /// An answer that says all by itself.
    case reply(StoreReply)
    case delivery(Delivery)
    case broadcast(OfBroadcast)
    case stream(OfStream)
    case holding(Holding)
    case question(Question)

    /// What became of notifications.
    enum Delivery {
        case acceptedNotStored(PendingNotification, Tally.Removal, answer: ReplyAddress)
        case removed(PendingTable.Removed, Tally.Removal, TraceDetail)
    }

    /// What became of broadcasts; those that come are addressed to no device yet.
    enum OfBroadcast {
        case stored(PendingNotification, ChannelNumber, answer: ReplyAddress)
        case nowOrNever(PendingNotification, ChannelNumber, answer: ReplyAddress)
        /// For all subscribers.
        case removed(BroadcastTable.Removed, Tally.Removal)
        /// For one device, which acknowledged it or is not to have it.
        case settled(Int64, DeviceID)
    }

    /// What happens to streams.
    enum OfStream {
        /// What would go out of a topic does not; on all devices when there is none.
        case silence(TopicID, on: DeviceID?)
        /// What would go out of a channel does not; on all devices when there is none.
        case silenceChannel(ChannelID, on: DeviceID?)
        /// What would go out of any channel of a topic does not.
        case silenceChannels(TopicID)
        /// Whether a device saves power.
        case power(DeviceID, isSaving: Bool)
        /// Takes the place of what the device listened to.
        case listen(DeviceID, [SubscriptionTable.Listener])
    }

    /// What the store holds more or less of.
    enum Holding {
        case deviceAdded
        case deviceRemoved(DeviceID)
        /// Registrations of a device changed, or its filter did; of any device when there is none.
        case registrationsChanged(DeviceID?)
        case registrationBegan(TopicID)
        case registrationEnded(TopicID)
        case appAdded
        case appRemoved(TopicID)
        /// Without a listener when the device refuses the topic.
        case subscribed(ChannelNumber, SubscriptionTable.Listener?)
        case unsubscribed(SubscriptionTable.Ended)
        case channelRemoved(ChannelNumber)
    }

    /// Questions whose answers need what is in memory.
    enum Question {
        case counts(answer: ReplyAddress)
        case app(TopicTable.Row, answer: ReplyAddress)
        case apps([TopicTable.Row], answer: ReplyAddress)
        case device(DeviceDescription, answer: ReplyAddress)
        case devices([DeviceDescription], answer: ReplyAddress)
        case channel(ChannelDescription, answer: ReplyAddress)
        case channels([ChannelDescription], answer: ReplyAddress)
        /// Answered when the search is over.
        case trace(TraceSearch)
    }

    /// A device, but for what only its stream tells.
    struct DeviceDescription {
        var id: DeviceID
        var device: AdminAPI.Device
        /// When this is said, UNIX seconds: a device whose stream is open is seen now.
        var nowUnixSeconds: Int64
    }

    /// A channel, but for the count of its subscriptions.
    struct ChannelDescription {
        var number: ChannelNumber
        var channel: AdminAPI.Channel
    }
}
