// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A table with aligned columns.
struct Table: Sendable {
    /// A column's heading and alignment.
    struct Column: Sendable {
        let heading: String
        let isNumber: Bool

        /// Returns a left-aligned column for text.
        static func text(_ heading: String) -> Column { Column(heading: heading, isNumber: false) }

        /// Returns a right-aligned column for numbers.
        static func number(_ heading: String) -> Column { Column(heading: heading, isNumber: true) }
    }

    /// The maximum width of a cell in terminal columns; longer text is truncated.
    static let cellColumnCountMax = 64

    private let columns: [Column]
    private let rows: [[String]]

    /// Takes the columns and rows; each row must have one cell per column.
    init(_ columns: [Column], rows: [[String]]) {
        precondition(rows.allSatisfy { $0.count == columns.count }, "a row has a cell for each column")
        self.columns = columns
        // The last column is not truncated, because no column follows it.
        self.rows = rows.map { row in
            row.enumerated().map { place, cell in
                let isLast = place == row.count - 1
                return isLast ? oneLine(cell) : DisplayWidth.cut(oneLine(cell), columnCount: Self.cellColumnCountMax)
            }
        }
    }

    /// The lines of the table, without a trailing newline.
    var text: String { lines(hasHeading: true) }

    /// The lines without the heading, for a later page of a list.
    var textWithoutHeading: String { lines(hasHeading: false) }

    private func lines(hasHeading: Bool) -> String {
        let lines = (hasHeading ? [columns.map(\.heading)] : []) + rows
        let widths = columns.indices.map { column in lines.map { DisplayWidth.columnCount($0[column]) }.max() ?? 0 }
        return lines.map { line in
            let cells = columns.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - DisplayWidth.columnCount(line[column]))
                return columns[column].isNumber ? padding + line[column] : line[column] + padding
            }
            return trimmedAtEnd(cells.joined(separator: "  "))
        }.joined(separator: "\n")
    }

    /// Formats names and values in two columns.
    static func fields(_ fields: [(name: String, value: String)]) -> String {
        let width = fields.map { DisplayWidth.columnCount($0.name) }.max() ?? 0
        return fields.map { field in
            let padding = String(repeating: " ", count: width - DisplayWidth.columnCount(field.name))
            return trimmedAtEnd("\(field.name)\(padding)  \(oneLine(field.value))")
        }.joined(separator: "\n")
    }
}

/// Removes control sequences and line breaks from external text, so that it is safe within one line of output.
///
/// Each text must be cleaned separately. An unterminated control sequence then removes no more than its own text.
func oneLine(_ text: String) -> String {
    let clean = DisplayText.terminal(text, scalarCountMax: .max)
    return String(String.UnicodeScalarView(clean.unicodeScalars.map { isLineBreak($0) ? " " : $0 }))
}

private func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A...0x0D, 0x09, 0x85, 0x2028, 0x2029: true
    default: false
    }
}

private func trimmedAtEnd(_ line: String) -> String {
    var line = Substring(line)
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return String(line)
}
