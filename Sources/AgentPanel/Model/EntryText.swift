// SPDX-License-Identifier: Apache-2.0

/// What the panel says of a notification.
package struct EntryText: Equatable, Sendable {
    /// The first line of its row.
    package var headline: String
    /// The second line; empty for none.
    package var detail: String
    /// What became of it, in the person's words.
    package var outcome: String

    /// Words for an entry.
    package init(_ entry: EntryFacts) {
        let (title, body) = (Self.line(VisibleText.line(entry.title)), Self.line(VisibleText.lines(entry.body)))
        if !title.isEmpty {
            (headline, detail) = (title, body)
        } else {
            (headline, detail) = (body.isEmpty ? tr("No text") : body, "")
        }
        outcome = Self.outcome(of: entry)
    }

    private static func outcome(of entry: EntryFacts) -> String {
        let reason = ReasonText.sentence(entry.reason)
        switch entry.state {
        case "shown": return reason.isEmpty ? tr("Shown") : reason
        case "viewed": return reason.isEmpty ? tr("Viewed") : reason
        case "closed": return tr("Closed")
        case "waiting", "claimed": return tr("Waiting")
        case "suppressed": return reason.isEmpty ? tr("Not shown") : Texts.fill(tr("Not shown: %1"), reason)
        default: return entry.state
        }
    }

    /// On one line.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
