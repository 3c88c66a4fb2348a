// SPDX-License-Identifier: Apache-2.0

/// The name of an app's .desktop file without `.desktop`.
///
/// Two IDs are equal if their bytes are, as in SQLite and in a file system; `==` on strings ignores how accents are
/// encoded. An ID from a caller may be malformed: `DesktopEntry.isValidID` checks it.
package struct AppID: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// Creates an ID from a text in which the empty text stands for all apps; nil for all apps.
    package init?(nilIfEmpty text: String) {
        if text.isEmpty { return nil }
        self.text = text
    }

    package static func == (one: AppID, other: AppID) -> Bool { one.text.hasSameBytes(as: other.text) }

    /// Compares as SQLite's BINARY collation does.
    package static func < (one: AppID, other: AppID) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Feeds the text into the hasher; strings with the same bytes have the same hash.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension AppID: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }
}
