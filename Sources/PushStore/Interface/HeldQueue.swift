// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The live queue of a connected device, which the store and the host of the device hand to each other.
package struct HeldQueue: Sendable {
    /// A notification that was sent on the stream and is not acknowledged.
    struct InFlight: Sendable {
        enum State: Sendable {
            /// The store has the notification: as a row, or as one that it writes or completes soon.
            case stored
            /// The notification is neither stored nor acknowledged, and its provider waits for the answer.
            case unwritten(Notification, answer: ReplyAddress)
            /// The notification was delivered now or never.
            case nowOrNever
            /// The device's copy of a broadcast.
            case broadcast(isStored: Bool)
        }

        var sequence: Int64
        var topic: TopicID
        var collapse = CollapseHash()
        var state: State
    }

    let device: DeviceID
    /// The device's stream.
    let stream: ReplyAddress
    /// The registrations by topic, including ended ones.
    var registrations: [(topic: TopicID, row: RegistrationState)]
    /// The subscriptions to channels.
    var subscriptions: [ChannelSubscription] = []
    /// The last sequence that was sent.
    var lastSent: Int64
    /// The latest measured time from sending to acknowledgement, in milliseconds.
    var acknowledgementMilliseconds: Int64
    /// The notifications in flight, in the order in which they were sent; all are stored when the store hands the
    /// queue over.
    var inFlight: [InFlight] = []
}
