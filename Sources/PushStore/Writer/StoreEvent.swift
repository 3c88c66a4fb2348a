// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What a transaction did, in order; it comes true in memory and for others only when the transaction is committed.
///
/// A transaction that fails leaves a list of events to throw away, and nothing to undo.
enum StoreEvent {
    /// An answer that says all by itself.
    case reply(StoreReply)

    // Notifications.
    case stored(PendingNotification, answer: ReplyAddress)
    case nowOrNever(Notification, after: Int64, answer: ReplyAddress)
    case acceptedNotStored(Tally.Removal, answer: ReplyAddress)
    case removed(PendingTable.Removed, Tally.Removal)
    case outcome(DeviceAPI.Outcome)

    // Streams.
    case attach(DeviceID, stream: ReplyAddress)
    case detach(stream: ReplyAddress)
    /// What would go out of a topic does not; on all devices when there is none.
    case silence(TopicID, on: DeviceID?)

    // Devices and apps.
    case deviceAdded
    case deviceRemoved(DeviceID)
    case registrationBegan(TopicID)
    case registrationEnded(TopicID)
    case appAdded
    case appRemoved(TopicID)

    // Answers that need what is in memory.
    case counts(answer: ReplyAddress)
    case app(TopicTable.Row, answer: ReplyAddress)
    case apps([TopicTable.Row], answer: ReplyAddress)
    case device(AdminAPI.Device, DeviceID, answer: ReplyAddress)
    case devices([(AdminAPI.Device, DeviceID)], answer: ReplyAddress)
}
