// SPDX-License-Identifier: Apache-2.0

internal import PushCore

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
        // What is not among the agent's words is a text already.
        let detail = TraceDetail(deviceReason: reason)
        let why = detail == .otherReason ? reason : detail.meaning
        let outcome = why.map { "\(state): \($0)" } ?? state
        return [title, body, "\(PanelTime.text(receivedUnixMilliseconds / 1000)), \(outcome)"].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }
}
