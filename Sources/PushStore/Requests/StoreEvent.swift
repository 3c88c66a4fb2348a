// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// An effect of a transaction.
///
/// The writer applies the events, in order, to memory and to the loops after the transaction is committed. The events
/// of a failed transaction are discarded, and nothing needs to be undone.
enum StoreEvent {
    /// An answer that needs no other data.
    case reply(StoreReply)
    /// The answer to a request that ends deliveries; sent after all loops have delivered what was sent to them before.
    case finalReply(StoreAnswer, answer: ReplyAddress)
    case delivery(Delivery)
    case broadcast(BroadcastEvent)
    case stream(StreamEvent)
    case count(CountEvent)
    case memoryQuery(MemoryQuery, answer: ReplyAddress)

    enum Delivery {
        case acceptedNotStored(PendingNotification, RemovalReason, answer: ReplyAddress)
        case removed(PendingTable.Removed, RemovalReason, TraceDetail)
    }

    /// An event of a broadcast.
    ///
    /// An accepted broadcast is not addressed to a device yet.
    enum BroadcastEvent {
        case stored(PendingNotification, ChannelNumber, answer: ReplyAddress)
        case nowOrNever(PendingNotification, ChannelNumber, answer: ReplyAddress)
        /// The broadcast is removed for all subscribers.
        case removed(BroadcastTable.Removed, RemovalReason)
        /// The broadcast is complete for one device, which acknowledged it or must not receive it.
        case ended(Int64, DeviceID)
    }

    enum StreamEvent {
        /// Drops the undelivered notifications of a topic on a device; on all devices when it is nil.
        case dropUndelivered(TopicID, on: DeviceID?)
        /// Drops the undelivered broadcasts of a channel on a device; on all devices when it is nil.
        case dropUndeliveredOfChannel(ChannelID, on: DeviceID?)
        /// Drops the undelivered broadcasts of all channels of a topic.
        case dropUndeliveredOfChannels(TopicID)
        /// Sets whether a device saves power.
        case power(DeviceID, isSaving: Bool)
        /// Replaces the subscriptions of a connected device.
        case setSubscriptions(DeviceID, [ChannelSubscription])
    }

    /// A change of the number of devices, apps, registrations, subscriptions or channels.
    enum CountEvent {
        case deviceAdded
        case deviceRemoved(DeviceID)
        /// The registrations or the filter of a device changed; those of any device when it is nil.
        case registrationsChanged(DeviceID?)
        case registrationBegan(TopicID)
        case registrationEnded(TopicID)
        case appAdded
        case appRemoved(TopicID)
        /// A subscription began.
        ///
        /// The value is nil if the device refuses the topic.
        case subscribed(ChannelNumber, ChannelSubscription?)
        case unsubscribed(SubscriptionTable.Ended)
        case channelRemoved(ChannelNumber)
    }

    /// A query whose answer needs data in memory.
    enum MemoryQuery {
        case counts
        case longestQueues(countMax: Int)
        case app(TopicTable.Row)
        case apps([TopicTable.Row])
        case device(DeviceDescription)
        case devices([DeviceDescription], next: DeviceID?)
        case channel(ChannelDescription)
        case channels([ChannelDescription])
        /// A search of the trace, which is answered at its end.
        case trace(TraceSearch)
    }

    /// A device without the values that come from its stream.
    struct DeviceDescription {
        var id: DeviceID
        var device: AdminAPI.Device
        /// The time of the answer, which is the last-seen time of a connected device.
        var now: Timestamp
    }

    /// A channel without the number of its subscriptions.
    struct ChannelDescription {
        var number: ChannelNumber
        var channel: AdminAPI.Channel
    }
}
