// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the panel says of a notification below its app's name.
package struct EntryText: Equatable, Sendable {
    /// The alert's title; empty for none.
    package var title: String
    /// The alert's body; empty for none.
    package var body: String
    /// When it came, UNIX milliseconds.
    package var receivedUnixMilliseconds: Int64
    /// As `ListInbox` says it.
    package var state: String
    /// Why it was suppressed, or what went wrong; empty for nothing.
    package var reason: String

    /// Joins the parts.
    package init(title: String, body: String, receivedUnixMilliseconds: Int64, state: String, reason: String) {
        self.title = title
        self.body = body
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.state = state
        self.reason = reason
    }

    /// Title and body, then time and state on a line of their own.
    package var subtitle: String {
        let outcome = reason.isEmpty ? state : "\(state): \(Self.words[reason] ?? reason)"
        return [title, body, "\(time), \(outcome)"].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// For example `2026-11-21 20:15`, in this machine's time zone.
    private var time: String {
        var seconds = time_t(receivedUnixMilliseconds / 1000)
        var parts = unsafe tm()
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
        let count = unsafe strftime(&text, text.count, "%Y-%m-%d %H:%M", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The agent's words for why something was not shown; what is not among them is a text already.
    private static let words = [
        "master-off": "notifications were off", "unknown-app": "no app was registered for it",
        "switched-off": "the app's switches were off", "nothing-to-show": "there was nothing to show",
        "replaced": "a newer one took its place", "too-many": "too many came at once",
        "cleared": "it was cleared before", "unreadable": "it could not be read",
    ]
}
