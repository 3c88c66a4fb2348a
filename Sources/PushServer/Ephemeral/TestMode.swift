// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// The parts that only a server for tests (`--ephemeral`) has, shared by all loops.
final class TestMode: Sendable {
    let failures = InjectedFailures()
    let received = ReceivedNotifications()
    /// The store's replies to the built-in devices, which have an index of their own among the store's receivers.
    let replies: Mailbox<StoreReply>

    init() throws(NetError) { replies = try Mailbox() }
}

/// Delivers the store's replies to the built-in devices.
struct BuiltInDeviceReceiver: StoreReplyReceiver {
    let mailbox: Mailbox<StoreReply>

    func receive(_ replies: [StoreReply]) { mailbox.post(contentsOf: replies) }
}

/// The notifications that the built-in devices have received, oldest first.
final class ReceivedNotifications: Sendable {
    private let kept = Lock<[TestModeAPI.ReceivedNotification]>([])

    var all: [TestModeAPI.ReceivedNotification] { kept.withLock { $0 } }

    /// Keeps a notification; above the limit, the oldest tenth is discarded.
    func append(_ notification: TestModeAPI.ReceivedNotification) {
        kept.withLock { kept in
            if kept.count == Limits.ephemeralNotificationCountMax { kept.removeFirst(kept.count / 10) }
            kept.append(notification)
        }
    }

    func removeAll() { kept.withLock { $0 = [] } }
}
