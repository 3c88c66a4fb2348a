// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A notification in the inbox.
package struct InboxEntry: Sendable, Equatable {
    /// The progress of the presentation; the database and the bus use the raw values.
    package enum State: String, Sendable, CaseIterable {
        /// The notification is still to be presented.
        case waiting
        /// The notification is being presented.
        ///
        /// After a crash it is not shown again, because the user may have seen it.
        case claimed
        /// The notification was on the screen, or all its parts were presented.
        case shown
        /// The user chose View.
        case viewed
        /// The user dismissed the alert.
        case closed
        /// The notification was not presented; `reason` says why.
        case suppressed
    }

    /// The entry's number; 0 for an entry that is not inserted yet.
    package var entry: EntryID
    /// The server's ID of the notification, which identifies repetitions.
    package var uniqueID: String
    /// The server's number of the notification, by which it is acknowledged; 0 for none.
    package var sequence: Int64
    /// The app; empty if no registered app had the topic.
    package var appID: AppID
    /// The value of `apns-topic` without the push type's suffix.
    package var topic: TopicName
    package var apnsID: String
    /// The time at which the notification arrived on the device.
    package var receivedAt: Timestamp
    /// The time at which the server accepted the notification.
    package var acceptedAt: Timestamp
    /// The alert's title, unsanitized.
    package var title: String?
    /// The alert's subtitle, unsanitized.
    package var subtitle: String?
    /// The alert's body, unsanitized.
    package var body: String?
    /// The payload, byte for byte as the provider sent it.
    package var payload: [UInt8]
    /// The key under which a newer notification replaces this one on the screen.
    package var collapseID: [UInt8]?
    /// The channel of a broadcast, in which a newer one replaces this one on the screen; nil for other notifications.
    package var channel: String?
    /// The conversation, or another group, that the notification belongs to; nil for none.
    package var threadID: String?
    package var state: State
    /// The reason for the suppression, or the problem; empty for none.
    package var reason: String
    /// The outcome of each part, such as `badge` or `sound:silent`, separated by spaces.
    package var effects: String
    /// The address in the payload's `url`, if it is accepted.
    package var url: String?
    /// The absolute path of the entry's picture, which is safe to show; nil for none.
    package var picture: String?
    /// The members of the payload that were ignored, each with a colon and the reason, one per line.
    package var ignored = ""
    /// Whether the user has seen the entry in the list.
    package var isRead = false

    /// Creates a new entry without a number, which the insertion assigns.
    package init(
        uniqueID: String, sequence: Int64, appID: AppID, topic: TopicName, apnsID: String,
        receivedAt: Timestamp, acceptedAt: Timestamp, title: String? = nil,
        subtitle: String? = nil, body: String? = nil, payload: [UInt8], collapseID: [UInt8]? = nil,
        channel: String? = nil, threadID: String? = nil, state: State, reason: String = "", effects: String = ""
    ) {
        entry = 0
        self.uniqueID = uniqueID
        self.sequence = sequence
        self.appID = appID
        self.topic = topic
        self.apnsID = apnsID
        self.receivedAt = receivedAt
        self.acceptedAt = acceptedAt
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.payload = payload
        self.collapseID = collapseID
        self.channel = channel
        self.threadID = threadID
        self.state = state
        self.reason = reason
        self.effects = effects
    }
}
