// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What somebody wants to know of the trace.
package struct TraceQuery: Sendable {
    /// Whose events.
    package enum Subject: Sendable {
        /// Of the notifications with this `apns-id` or `apns-unique-id`.
        case notification(UniqueID)
        /// Of a device, one that is gone too.
        case device(DeviceID)
        /// Of an app.
        case app(topic: String)
    }

    /// Whose events.
    package var subject: Subject
    /// Those since a moment, UNIX milliseconds; not for a notification, of which all are told.
    package var sinceUnixMilliseconds: Int64
    /// Those behind a position that an earlier answer gave; not for a notification.
    package var after: Int64
    /// At most so many.
    package var countMax: Int
    /// Whether only what webhooks tell is wanted, with device tokens.
    package var isForWebhook: Bool

    /// Joins the parts.
    package init(
        _ subject: Subject, sinceUnixMilliseconds: Int64 = .min, after: Int64 = 0, countMax: Int,
        isForWebhook: Bool = false
    ) {
        self.subject = subject
        self.sinceUnixMilliseconds = sinceUnixMilliseconds
        self.after = after
        self.countMax = countMax
        self.isForWebhook = isForWebhook
    }
}

/// What the trace holds of it.
package struct TraceFindings: Sendable {
    /// In the order in which the server heard of them.
    package var entries: [TraceEntry] = []
    /// Behind what was looked at: where a later query goes on.
    package var next: Int64
    /// Whether there may be more behind `next`.
    package var isMore = false
    /// Whether what stood behind `after` was deleted before it was asked for.
    package var hasGap = false
    /// When the oldest event that is kept happened, UNIX milliseconds; nil for an empty trace.
    package var oldestUnixMilliseconds: Int64?
}

/// An event with what is known of its notification.
package struct TraceEntry: Sendable {
    /// Its position in the trace, which no other event has.
    package var position: Int64
    /// The event.
    package var event: TraceEvent
    /// The notification; nil when its beginning is not kept any more.
    package var origin: TraceEvent.Origin?
    /// The device token; only for webhooks, nil when it is not known any more.
    package var token: Token?

    /// The device token that the back-end knows.
    package struct Token: Sendable {
        /// What it says.
        package var contents: DeviceTokenContents
        /// The environment whose key makes it.
        package var environment: Environment
    }
}
