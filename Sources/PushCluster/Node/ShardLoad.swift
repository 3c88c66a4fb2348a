// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The notifications for the devices of a shard for which providers wait.
///
/// Each shard has bounds of its own, so that notifications for a shard that is down do not displace others.
final class ShardLoad {
    private let context: NodeContext
    private var count = 0
    private var byteCount = 0

    init(_ context: NodeContext) { self.context = context }

    /// Whether many notifications wait, so that larger batches are worth a delay.
    var isBusy: Bool { count >= context.configuration.busyCount }

    /// Returns whether another notification may wait.
    func hasRoom(for notification: Notification) -> Bool {
        count < context.configuration.waitingCountMax
            && byteCount + notification.payload.count <= context.configuration.waitingByteCountMax
    }

    func add(_ notification: Notification) {
        context.waitingCount += 1
        count += 1
        byteCount += notification.payload.count
    }

    func remove(_ notification: Notification) {
        context.waitingCount -= 1
        count -= 1
        byteCount -= notification.payload.count
    }
}
