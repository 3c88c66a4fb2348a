// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// The asynchronous, batched interface to the server's storage.
///
/// An implementation executes the notifications and the streams of one device in the order of submission. This keeps a
/// device's stream free of gaps and duplicates while notifications arrive. Requests and broadcasts may wait while later
/// commands are executed. A `LoopHost` accepts some notifications without the store.
package protocol NotificationStore: Sendable {
    /// Submits a batch from any thread and returns immediately.
    ///
    /// The replies go to the receiver of the loop in each command's address.
    ///
    /// - Parameter commands: The batch; empty afterwards. The array may get another array's storage for the next batch.
    func submit(_ commands: inout [StoreCommand])

    /// Commits the submitted commands, sends the answers and stops; blocks until then.
    func stop()
}

extension NotificationStore {
    /// Submits a batch that the caller keeps; see `submit(_:)`.
    package func submit(_ commands: [StoreCommand]) {
        var commands = commands
        submit(&commands)
    }
}

/// Receives the store's replies for one loop.
///
/// The store calls it on its own thread, and it must return immediately.
package protocol StoreReplyReceiver: Sendable {
    /// Receives a batch of replies, in order.
    func receive(_ replies: [StoreReply])

    /// Whether the store may hand the queues of devices over to the loop's `LoopHost`.
    var hasHost: Bool { get }
}

extension StoreReplyReceiver {
    package var hasHost: Bool { false }
}

/// The address of an exchange on a loop, which the store returns unchanged with each answer or delivery.
package struct ReplyAddress: Hashable, Sendable {
    /// The index of the loop.
    package var loop: UInt32
    /// The slot in the loop's connection table.
    package var slot: UInt32
    /// The generation of the slot, which detects that the slot was reused.
    package var generation: UInt32
    /// The exchange on the connection (HTTP/2 stream ID).
    package var exchange: Int32

    package init(loop: UInt32, slot: UInt32, generation: UInt32, exchange: Int32) {
        self.loop = loop
        self.slot = slot
        self.generation = generation
        self.exchange = exchange
    }
}

/// A command from a loop to the store.
package enum StoreCommand: Sendable {
    /// Stores a notification, or delivers it immediately; answered by `accepted` or `refused`.
    case accept(Notification, answer: ReplyAddress)
    /// Delivers a broadcast to the subscribers of its channel and stores it if the channel's policy says so; answered
    /// by `accepted` or `refused`.
    case publish(Broadcast, answer: ReplyAddress)
    /// Opens a device's stream; answered by `attached` and then `deliver`, or by `performed` with a refusal.
    ///
    /// An earlier stream of the same device receives `ended`. `agent` is the name and version of its agent.
    case attach(DeviceCredential, stream: ReplyAddress, agent: String = "")
    /// Acknowledges notifications on the device's own stream; not answered.
    ///
    /// The device is the one that `attached` named. Acknowledgements of removed notifications, or of another device's,
    /// are ignored.
    case acknowledge([DeviceAPI.Acknowledgement], by: DeviceID)
    /// Closes a stream whose connection is gone.
    ///
    /// The command is ignored if another stream of the device replaced it.
    case detach(stream: ReplyAddress)
    /// Performs any other request; answered by `performed`.
    case perform(StoreRequest, answer: ReplyAddress)
    /// Reports the version of the directory that a loop checks providers with from now on; not answered.
    case usesDirectory(version: UInt64, loop: UInt32)
    /// Passes on a message of a host.
    case host(HostCommand)
}

/// A reply from the store to a loop.
package enum StoreReply: Sendable {
    /// The notification or broadcast is accepted.
    ///
    /// It is as durable as the store's settings require. It needs no storage if its device acknowledged it, if the
    /// device refuses its topic, or if it is expired or now-or-never.
    case accepted(answer: ReplyAddress)
    /// The notification was not stored.
    ///
    /// The time is the end of the registration, for `Unregistered` and `ExpiredToken` only.
    case refused(RejectionReason, unregisteredAt: Timestamp?, answer: ReplyAddress)
    case attached(DeviceID, stream: ReplyAddress)
    /// Notifications for the stream, in order, without expired ones.
    case deliver([PendingNotification], stream: ReplyAddress)
    /// A broadcast for several streams; the address of a device in it is not valid.
    case broadcast(PendingNotification, streams: [ReplyAddress])
    /// The stream must close.
    case ended(StreamEnd, stream: ReplyAddress)
    /// The answer to `perform`, or the refusal of `attach`.
    case performed(Result<StoreAnswer, StoreRefusal>, answer: ReplyAddress)
    /// The new directory after apps or keys changed; sent to every loop.
    case directory(Directory)
    /// A message for the host of the loop, which `LoopHost.receive` handles.
    case host(HostReply)
}

/// The reason why the store ended a stream.
package enum StreamEnd: String, Sendable {
    /// The device opened a newer stream.
    case replaced
    case removed
    /// The node takes no devices, so the device must connect to another one.
    case shutdown
}
