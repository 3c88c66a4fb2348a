// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// A notification on its way through a node, until its sender has an answer.
final class WaitingNotification {
    /// The sender of the notification.
    enum Sender {
        /// A provider on a loop of this node.
        case provider(ReplyAddress, ControlVersions.Check)
        /// Another node, which pushed it.
        case node(InstanceID, number: Int64, index: Int)
    }

    /// The answer to the sender.
    enum Result {
        /// The notification is acknowledged, written, or needs no storage.
        case accepted
        case refused(RejectionReason, endedAt: Timestamp?)
        /// Another node hosts the device, or no node does.
        case notHere
        /// The node can neither deliver nor write the notification in time.
        case unavailable
    }

    /// The notification; the host may raise its number.
    var pending: PendingNotification
    /// The identity of its row; fixed when it was accepted.
    let key: RowKey
    let sender: Sender
    let since: MonotonicTime
    /// The shard's UNIX time in microseconds until which the node that pushed it waits; then that node writes it.
    let end: Int64
    /// The stream on this node that it was delivered on; nil before, and after it was written.
    var stream: HostedStream?
    /// Whether this node has recorded that it was accepted.
    var isTraced = false
    /// Whether it was pushed to another node, which may have recorded it.
    var wasPushed = false
    /// Whether the device has acknowledged it.
    var isAcknowledged = false
    /// Whether the number decides the order: the notification has a row, may soon have one, or waits until its stream
    /// has read earlier rows.
    var isOrderedByNumber = false
    /// The load of the shard that counts it, although its device may move; nil if another node sent it.
    var load: ShardLoad?
    /// Whether the sender has its answer.
    var isAnswered = false
    /// The host that the node has asked to read the row.
    var toldHost: ShardResult.Host?
    /// The host that answered that the device has no stream there.
    var desertedHost: ShardResult.Host?
    /// The time at which it was written; nil before.
    var writtenAt: MonotonicTime?

    init(
        _ pending: PendingNotification, _ key: RowKey, from sender: Sender, at moment: MonotonicTime,
        until end: Int64 = .max
    ) {
        self.pending = pending
        self.key = key
        self.sender = sender
        self.end = end
        since = moment
    }

    /// Whether a provider sent it to this node.
    var isOfProvider: Bool { if case .provider = sender { true } else { false } }
    /// Whether nothing is left to write, because the notification was refused, or another node has accepted it.
    ///
    /// An acknowledged notification must still be written if it replaces a row.
    var isObsolete: Bool { isAnswered && !isAcknowledged && writtenAt == nil }
    var device: DeviceID { pending.notification.address.device }
    var row: RowReference { RowReference(device: device, key: key, id: pending.sequence) }
}
