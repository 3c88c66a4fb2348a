// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// The texts about a notification.
struct EntryText: Equatable, Sendable {
    /// The first line of its row.
    var headline: String
    /// The second line of its row; may be empty.
    var detail: String
    /// The first paragraph of its expanded row: the title, or the body if there is no title.
    var title: String
    /// The second paragraph of its expanded row, with line breaks; may be empty.
    var body: String
    /// The result of the delivery, in words for the user.
    var outcome: String

    init(_ entry: InboxRecord) {
        let (title, body) = (Self.line(VisibleText.line(entry.title)), VisibleText.lines(entry.body))
        if !title.isEmpty {
            (headline, detail) = (title, Self.line(body))
            (self.title, self.body) = (title, body)
        } else {
            (headline, detail) = (body.isEmpty ? Self.parts(of: entry) : Self.line(body), "")
            (self.title, self.body) = (body.isEmpty ? headline : body, "")
        }
        outcome = Self.outcome(of: entry)
    }

    /// Describes the parts of a notification without text.
    private static func parts(of entry: InboxRecord) -> String {
        let parts = entry.effects.map { $0.prefix { $0 != ":" } }
        guard !parts.isEmpty, !parts.contains("alert") else { return tr("No text") }
        let badge = entry.badge
        return parts.map { part in
            switch (part, badge) {
            case ("badge", 0): tr("Badge removed")
            case ("badge", let number?): Texts.fill(tr("Badge: %1"), "\(number)")
            default: ReasonText.effect(String(part))
            }
        }.joined(separator: tr(", "))
    }

    private static func outcome(of entry: InboxRecord) -> String {
        if let reason = entry.reasonNotShown.map(ReasonText.sentence) {
            return reason.isEmpty ? tr("Not shown") : Texts.fill(tr("Not shown: %1"), reason)
        }
        let reason = ReasonText.sentence(entry.reason)
        switch entry.state {
        case "shown": return reason.isEmpty ? tr("Shown") : reason
        case "viewed": return reason.isEmpty ? tr("Viewed") : reason
        case "closed": return tr("Closed")
        case "waiting", "claimed": return tr("Waiting")
        default: return entry.state
        }
    }

    /// Replaces all whitespace, so that the text fits on one line.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
