// SPDX-License-Identifier: Apache-2.0

/// The number of an inbox entry; numbers ascend and are never reused.
package struct EntryID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The row ID in the database; the first one is 1.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates an ID from a number in which 0 stands for all entries; nil for all entries.
    package init?(nilIfZero rawValue: Int64) {
        if rawValue == 0 { return nil }
        self.rawValue = rawValue
    }

    package static func < (one: EntryID, other: EntryID) -> Bool { one.rawValue < other.rawValue }
}

extension EntryID: ExpressibleByIntegerLiteral, CustomStringConvertible {
    package init(integerLiteral rawValue: Int64) { self.rawValue = rawValue }

    package var description: String { "\(rawValue)" }
}
