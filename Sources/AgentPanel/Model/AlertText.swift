// SPDX-License-Identifier: Apache-2.0

/// What an alert says below the app's name.
package struct AlertText: Equatable, Sendable {
    /// On one line; empty for none.
    package var title: String
    /// On one line; empty for none.
    package var subtitle: String
    /// Empty for none.
    package var body: String

    /// The texts of an alert; one without any says so, as the inbox does.
    package init(_ alert: AlertFacts) {
        title = VisibleText.line(alert.title)
        subtitle = VisibleText.line(alert.subtitle)
        body = VisibleText.lines(alert.body)
        if title.isEmpty, subtitle.isEmpty, body.isEmpty { body = tr("No text") }
    }

    /// All of it, as a screen reader reads it.
    package var spoken: String { [title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n") }
}
