// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushDBus

/// A notification in the inbox, as `ListInbox` returns it.
package struct InboxRecord: AgentRecord, Sendable, Equatable {
    /// The number of the entry; newer entries have greater numbers.
    package var entry: Int64 = 0
    /// The unique ID of the notification.
    package var uniqueID = ""
    /// The app ID; empty if no app was registered for the notification.
    package var appID = ""
    /// The display name of the app.
    package var appName = ""
    /// The time of arrival.
    package var receivedAt = Timestamp.unixEpoch
    /// The title; may be empty.
    package var title = ""
    /// The body; may be empty.
    package var body = ""
    /// The payload as the provider sent it.
    package var payload = ""
    /// The delivery state: `waiting`, `shown`, `viewed`, `closed` or `suppressed`.
    package var state = ""
    /// The result for each part, for example `badge` or `sound:silent`.
    package var effects: [String] = []
    /// Whether the user has seen the notification.
    package var isRead = false
    /// The reason why the notification was suppressed, or an error; may be empty.
    package var reason = ""
    /// The channel ID of a broadcast; empty for others.
    package var channel = ""
    /// The conversation; may be empty.
    package var threadID = ""

    /// Whether `appName` is the name of an installed app, or one that the user gave.
    package var isVerified = false
    /// The setting that would have shown this notification and that the user has not chosen yet: `time-sensitive`.
    ///
    /// Set on the first such entry of an app only; empty on all others.
    package var offer = ""
    /// The time at which the notification is shown again; nil if the user asked for no reminder.
    package var remindAt: Timestamp?
    /// The address that View opens; empty if View opens the app or nothing.
    package var url = ""
    /// The absolute path of a PNG file that is safe to show; empty for none.
    package var picture = ""
    /// The members of the payload that were ignored, each with a colon and the reason.
    package var ignored: [String] = []

    /// The app's name; its app ID if the app has no name.
    package var appTitle: String { appName.isEmpty ? appID : appName }

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        entry = dictionary.number("entry")
        uniqueID = dictionary.text("id")
        appID = dictionary.text("app_id")
        appName = dictionary.text("app_name")
        receivedAt = Timestamp(unixMilliseconds: dictionary.number("received_at"))
        title = dictionary.text("title")
        body = dictionary.text("body")
        payload = dictionary.text("payload")
        state = dictionary.text("state")
        effects = dictionary.texts("effects")
        isRead = dictionary.flag("read")
        reason = dictionary.text("reason")
        channel = dictionary.text("channel")
        threadID = dictionary.text("thread_id")
        isVerified = dictionary.flag("verified")
        offer = dictionary.text("offer")
        remindAt = dictionary.secondsIfSet("remind_at")
        url = dictionary.text("url")
        picture = dictionary.text("picture")
        ignored = dictionary.texts("ignored")
    }

    package var entries: [(String, BusValue)] {
        [
            ("entry", .entry(entry)),
            ("id", .entry(uniqueID)),
            ("app_id", .entry(appID)),
            ("app_name", .entry(appName)),
            ("received_at", .entry(receivedAt.unixMilliseconds)),
            ("title", .entry(title)),
            ("body", .entry(body)),
            ("payload", .entry(payload)),
            ("state", .entry(state)),
            ("effects", .entry(effects)),
            ("read", .entry(isRead)),
            ("reason", .entry(reason)),
            ("channel", .entry(channel)),
            ("thread_id", .entry(threadID)),
            ("verified", .entry(isVerified)),
            ("offer", .entry(offer)),
            ("remind_at", .entry(secondsOf: remindAt)),
            ("url", .entry(url)),
            ("picture", .entry(picture)),
            ("ignored", .entry(ignored)),
        ]
    }
}
