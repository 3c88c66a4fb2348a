// SPDX-License-Identifier: Apache-2.0

/// Why an app did not open, by what a person can do about it.
package enum OpenFailure: String, CaseIterable, Sendable {
    /// Its `.desktop` file or its program is not there.
    case notInstalled = "app-not-installed"
    /// Its `.desktop` file cannot be used.
    case damaged = "app-damaged"
    /// It runs in a terminal, and nothing here opens one.
    case needsTerminal = "needs-terminal"
    /// It was called, and did not start.
    case notStarted = "app-not-started"

    /// What an entry of the inbox has as its reason: the word, and behind a colon what else is known.
    package func reason(_ detail: String) -> String { "\(rawValue): \(detail)" }

    /// Reads an entry's reason; nil when it is about something else.
    package init?(reason: String) {
        self.init(rawValue: String(reason.prefix { $0 != ":" }))
    }
}
