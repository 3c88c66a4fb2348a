// SPDX-License-Identifier: Apache-2.0

/// The reason why an app or a link did not open, classified by the remedy.
package enum OpenFailure: String, CaseIterable, Sendable {
    /// The app's `.desktop` file or its program is missing.
    case notInstalled = "app-not-installed"
    /// The app's `.desktop` file is invalid.
    case damaged = "app-damaged"
    /// The app runs in a terminal, and no terminal emulator is available.
    case needsTerminal = "needs-terminal"
    /// The app was launched but did not start.
    case notStarted = "app-not-started"
    /// No program on the desktop opened the link.
    case linkNotOpened = "link-not-opened"

    /// Returns the reason text of an inbox entry: the raw value, a colon and the detail.
    package func reason(_ detail: String) -> String { "\(rawValue): \(detail)" }

    /// Parses the reason text of an inbox entry; returns nil for a reason of another kind.
    package init?(reason: String) {
        self.init(rawValue: String(reason.prefix { $0 != ":" }))
    }
}
