// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What the server keeps, behind one asynchronous and batched door.
///
/// An implementation serializes all commands, in the order of submission: that order is the order of acceptance,
/// and it is what keeps a device's stream without gap and without repetition while notifications arrive.
package protocol NotificationStore: Sendable {
    /// Hands over a batch from any thread; returns at once. Answers come through the receiver of each address's loop.
    ///
    /// - Parameter commands: Is empty afterwards, and may have another's storage, for the next batch.
    func submit(_ commands: inout [StoreCommand])

    /// Commits what was submitted, sends the answers, and ends; blocks until that is done.
    func stop()
}

extension NotificationStore {
    /// Hands over a batch that is kept; see `submit(_:)`.
    package func submit(_ commands: [StoreCommand]) {
        var commands = commands
        submit(&commands)
    }
}

/// Takes the store's answers for one loop; called on the store's thread, must return at once.
package protocol StoreReplyReceiver: Sendable {
    /// Takes a batch, in order.
    func receive(_ replies: [StoreReply])
}

/// An exchange of a loop, where an answer or a delivery goes; the store only hands it back.
package struct ReplyAddress: Hashable, Sendable {
    /// Index of the loop.
    package var loop: UInt32
    /// Slot in the loop's table of connections.
    package var slot: UInt32
    /// Guards against a slot that was used again.
    package var generation: UInt32
    /// The exchange on that connection (HTTP/2 stream id).
    package var exchange: Int32

    /// Joins the parts.
    package init(loop: UInt32, slot: UInt32, generation: UInt32, exchange: Int32) {
        self.loop = loop
        self.slot = slot
        self.generation = generation
        self.exchange = exchange
    }
}

/// What loops ask of the store.
package enum StoreCommand: Sendable {
    /// Stores a notification, or hands it over at once; answered by `accepted` or `refused`.
    case accept(Notification, answer: ReplyAddress)
    /// Hands a broadcast to the subscribers of its channel, and keeps it where the channel does; answered by `accepted`
    /// or `refused`.
    case publish(Broadcast, answer: ReplyAddress)
    /// Opens a device's stream; answered by `attached` and then `deliver`, or by `performed` with a refusal.
    /// An earlier stream of the same device gets `ended`.
    case attach(secretHash: [UInt8], stream: ReplyAddress)
    /// What a device acknowledged on its own stream, whose device the store named in `attached`; not answered. What is gone already, or
    /// another device's, is left alone.
    case acknowledge([DeviceAPI.Acknowledgement], by: DeviceID)
    /// The stream's connection is gone; nothing more is delivered to it. Ignored if another stream took over.
    case detach(stream: ReplyAddress)
    /// Anything else; answered by `performed`.
    case perform(StoreRequest, answer: ReplyAddress)
}

/// What the store tells loops.
package enum StoreReply: Sendable {
    /// The notification is durable, or it was now-or-never and had its chance.
    case accepted(answer: ReplyAddress)
    /// Nothing was stored. The time, for `Unregistered` and `ExpiredToken` only, is when the registration ended.
    case refused(RejectionReason, unregisteredUnixMilliseconds: Int64?, answer: ReplyAddress)
    /// The stream is open.
    case attached(DeviceID, stream: ReplyAddress)
    /// Notifications for the stream, in order, never expired ones.
    case deliver([PendingNotification], stream: ReplyAddress)
    /// The stream must close.
    case ended(StreamEnd, stream: ReplyAddress)
    /// The answer to `perform`, or the refusal of `attach`.
    case performed(Result<StoreAnswer, StoreRefusal>, answer: ReplyAddress)
    /// Apps or keys changed; goes to every loop.
    case directory(Directory)
}

/// Why the store ended a stream.
package enum StreamEnd: String, Sendable {
    /// The device opened a newer one.
    case replaced
    /// The device was removed.
    case removed
}
