// SPDX-License-Identifier: Apache-2.0

/// A value of a column, for rows that are copied between the engines.
package enum SQLValue: Sendable, Equatable {
    case null
    case number(Int64)
    case text(String)
    case bytes([UInt8])
}

extension SQLValue {
    /// The number; nil for other values.
    package var number: Int64? { if case .number(let number) = self { number } else { nil } }

    /// The text; nil for other values.
    package var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The bytes; nil for other values.
    package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
