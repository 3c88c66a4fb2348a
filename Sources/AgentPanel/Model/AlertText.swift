// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// The texts of an alert below the app's name.
struct AlertText: Equatable, Sendable {
    /// The mark of a name that the app gave itself, with the app's ID; empty for a name that is confirmed.
    var mark: String
    /// The title on one line; may be empty.
    var title: String
    /// The subtitle on one line; may be empty.
    var subtitle: String
    /// The body; may be empty.
    var body: String

    /// Takes the texts of an alert; an alert without text gets the same placeholder as in the inbox.
    init(_ alert: AlertRecord) {
        mark = alert.isVerified || alert.appID.isEmpty ? "" : "\(tr("unverified")): \(alert.appID)"
        title = VisibleText.line(alert.title)
        subtitle = VisibleText.line(alert.subtitle)
        body = VisibleText.lines(alert.body)
        if title.isEmpty, subtitle.isEmpty, body.isEmpty { body = tr("No text") }
    }

    /// The whole text for a screen reader.
    var spoken: String { [mark, title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n") }
}
