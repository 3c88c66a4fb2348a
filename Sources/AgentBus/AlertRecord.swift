// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushDBus

/// An alert that waits for an answer, as `ListAlerts` returns it.
package struct AlertRecord: AgentRecord, Sendable, Equatable {
    /// The number of the inbox entry.
    package var entry: Int64 = 0
    /// The app ID.
    package var appID = ""
    /// The registered display name, which the notification cannot change.
    package var appName = ""
    /// The name of an icon or an absolute path; may be empty.
    package var icon = ""
    /// The title; may be empty.
    package var title = ""
    /// The subtitle; may be empty.
    package var subtitle = ""
    /// The body; may be empty.
    package var body = ""
    /// The label of the button that opens the app; empty if there is only an OK button.
    package var viewLabel = ""
    /// The app's own buttons, which replace View.
    package var actions: [AlertActionRecord] = []
    /// The time of arrival.
    package var receivedAt = Timestamp.unixEpoch
    /// The number of other unanswered alerts of the same conversation.
    package var earlierCount: UInt32 = 0
    /// Whether `appName` is the name of an installed app, or one that the user gave.
    package var isVerified = false
    /// The address that View opens; empty if View opens the app or there is no View.
    package var url = ""
    /// The absolute path of a PNG file that is safe to show; empty for none.
    package var picture = ""

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        entry = dictionary.number("entry")
        appID = dictionary.text("app_id")
        appName = dictionary.text("app_name")
        icon = dictionary.text("icon")
        title = dictionary.text("title")
        subtitle = dictionary.text("subtitle")
        body = dictionary.text("body")
        viewLabel = dictionary.text("view_label")
        actions = dictionary.items("actions").map(AlertActionRecord.init)
        receivedAt = Timestamp(unixMilliseconds: dictionary.number("received_at"))
        earlierCount = UInt32(clamping: dictionary.number("earlier"))
        isVerified = dictionary.flag("verified")
        url = dictionary.text("url")
        picture = dictionary.text("picture")
    }

    package var entries: [(String, BusValue)] {
        [
            ("entry", .entry(entry)),
            ("app_id", .entry(appID)),
            ("app_name", .entry(appName)),
            ("icon", .entry(icon)),
            ("title", .entry(title)),
            ("subtitle", .entry(subtitle)),
            ("body", .entry(body)),
            ("view_label", .entry(viewLabel)),
            ("actions", .entry(actions)),
            ("received_at", .entry(receivedAt.unixMilliseconds)),
            ("earlier", .entry(earlierCount)),
            ("verified", .entry(isVerified)),
            ("url", .entry(url)),
            ("picture", .entry(picture)),
        ]
    }
}

/// A button that the app defined, in `ListAlerts`.
package struct AlertActionRecord: AgentRecord, Sendable, Equatable {
    /// The app's identifier of the action.
    package var id = ""
    /// The label of the button.
    package var title = ""
    /// Whether the user enters a text for the action.
    package var takesText = false

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        id = dictionary.text("id")
        title = dictionary.text("title")
        takesText = dictionary.flag("takes_text")
    }

    package var entries: [(String, BusValue)] {
        [
            ("id", .entry(id)),
            ("title", .entry(title)),
            ("takes_text", .entry(takesText)),
        ]
    }
}
