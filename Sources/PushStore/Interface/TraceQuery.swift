// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// A search of the trace.
package struct TraceQuery: Sendable {
    /// The subject whose events are searched.
    package enum Subject: Sendable {
        /// The notifications with this `apns-id` or `apns-unique-id`.
        case notification(UniqueID)
        /// A device, including a removed one.
        case device(DeviceID)
        case app(topic: TopicName)
    }

    package var subject: Subject
    /// The earliest time of the events; ignored for a notification, whose events are all returned.
    package var since: Timestamp
    /// The position after which the search starts, from an earlier answer; ignored for a notification.
    package var after: Int64
    /// The maximum number of events.
    package var countMax: Int
    /// Whether to return the last events of the searched range instead of the first ones.
    package var isNewest: Bool
    /// Whether to return only events that webhooks report, with device tokens.
    package var isForWebhook: Bool

    package init(
        _ subject: Subject, since: Timestamp = .distantPast, after: Int64 = 0, countMax: Int, isNewest: Bool = false,
        isForWebhook: Bool = false
    ) {
        self.isNewest = isNewest
        self.subject = subject
        self.since = since
        self.after = after
        self.countMax = countMax
        self.isForWebhook = isForWebhook
    }
}

/// The result of a trace search.
package struct TraceFindings: Sendable {
    /// The events in the order in which the server recorded them.
    package var entries: [TraceEntry] = []
    /// The position after the searched events, at which a later query continues.
    package var next: Int64
    /// Whether more events may follow after `next`.
    package var isMore = false
    /// Whether a search for the newest events left out earlier ones.
    package var hasEarlier = false
    /// Whether events after `after` were deleted before the search.
    package var hasGap = false
    /// The time of the oldest event in the trace; nil for an empty trace.
    package var oldestAt: Timestamp?

    package init(next: Int64) { self.next = next }
}

/// An event of the trace with its notification.
package struct TraceEntry: Sendable {
    /// The unique position of the event in the trace.
    package var position: Int64
    package var event: TraceEvent
    /// The notification; nil if its first event is no longer in the trace.
    package var origin: TraceEvent.Origin?
    /// The device token, only for webhooks; nil if it is no longer known.
    package var token: Token?

    /// A device token of the app's back-end: its contents and the environment whose key makes it.
    package struct Token: Sendable {
        package var contents: DeviceTokenContents
        package var environment: Environment
    }
}
