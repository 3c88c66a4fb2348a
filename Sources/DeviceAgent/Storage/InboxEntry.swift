// SPDX-License-Identifier: Apache-2.0

/// A notification in the inbox.
package struct InboxEntry: Sendable, Equatable {
    /// How far it got; the raw values are in the database and on the bus.
    package enum State: String, Sendable, CaseIterable {
        /// To be presented.
        case waiting
        /// Being presented: after a crash nobody knows whether it was seen, so it is not shown again.
        case claimed
        /// Was on the screen, or did all that it could.
        case shown
        /// The person chose View.
        case viewed
        /// The person dismissed it.
        case closed
        /// Was not shown; the reason says why.
        case suppressed
    }

    /// The number, ascending, never used twice.
    package var entry: Int64
    /// The server's id of it, by which a repetition is known.
    package var uniqueID: String
    /// Its place in the server's queue; 0 for none.
    package var sequence: Int64
    /// The app; empty when no registered app had its topic.
    package var appID: String
    /// `apns-topic` without the push type's suffix.
    package var topic: String
    /// `apns-id`.
    package var apnsID: String
    /// When it came here.
    package var receivedUnixMilliseconds: Int64
    /// When the server accepted it.
    package var acceptedUnixMilliseconds: Int64
    /// The alert's title, raw.
    package var title: String?
    /// The alert's subtitle, raw.
    package var subtitle: String?
    /// The alert's body, raw.
    package var body: String?
    /// Byte for byte as the provider sent it.
    package var payload: [UInt8]
    /// A newer one with the same key replaces it on the screen.
    package var collapseID: [UInt8]?
    /// The channel of a broadcast, in whose place a newer one goes on the screen; nil for any other notification.
    package var channel: String?
    /// The conversation, or the like, that it belongs to; nil for none.
    package var threadID: String?
    /// How far it got.
    package var state: State
    /// Why it was suppressed, or what went wrong; empty for nothing.
    package var reason: String
    /// What became of each part that it has: `badge`, `sound:silent` and the like, between blanks.
    package var effects: String
    /// Whether the person has seen the list since.
    package var isRead = false

    /// Joins the parts of a new entry; its number comes with the insertion.
    package init(
        uniqueID: String, sequence: Int64, appID: String, topic: String, apnsID: String,
        receivedUnixMilliseconds: Int64, acceptedUnixMilliseconds: Int64, title: String? = nil,
        subtitle: String? = nil, body: String? = nil, payload: [UInt8], collapseID: [UInt8]? = nil,
        channel: String? = nil, threadID: String? = nil, state: State, reason: String = "", effects: String = ""
    ) {
        entry = 0
        self.uniqueID = uniqueID
        self.sequence = sequence
        self.appID = appID
        self.topic = topic
        self.apnsID = apnsID
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.acceptedUnixMilliseconds = acceptedUnixMilliseconds
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
