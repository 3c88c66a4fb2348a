// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Rows in aligned columns.
package struct Table: Sendable {
    /// The heading of a column, and how it is aligned.
    package struct Column: Sendable {
        let heading: String
        let isNumber: Bool

        /// A column of texts, aligned left.
        package static func text(_ heading: String) -> Column { Column(heading: heading, isNumber: false) }

        /// A column of numbers, aligned right.
        package static func number(_ heading: String) -> Column { Column(heading: heading, isNumber: true) }
    }

    /// A cell's text is cut off here, in columns of a terminal.
    static let cellColumnCountMax = 64

    private let columns: [Column]
    private let rows: [[String]]

    /// Takes the rows; each has as many cells as there are columns.
    package init(_ columns: [Column], rows: [[String]]) {
        precondition(rows.allSatisfy { $0.count == columns.count }, "a row has a cell for each column")
        self.columns = columns
        // The last column may be as long as it is: nothing stands behind it.
        self.rows = rows.map { row in
            row.enumerated().map { place, cell in
                let isLast = place == row.count - 1
                return isLast ? oneLine(cell) : DisplayWidth.cut(oneLine(cell), columnCount: Self.cellColumnCountMax)
            }
        }
    }

    /// The lines, without a newline at the end.
    package var text: String {
        let lines = [columns.map(\.heading)] + rows
        let widths = columns.indices.map { column in lines.map { DisplayWidth.columnCount($0[column]) }.max() ?? 0 }
        return lines.map { line in
            let cells = columns.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - DisplayWidth.columnCount(line[column]))
                return columns[column].isNumber ? padding + line[column] : line[column] + padding
            }
            return trimmedAtEnd(cells.joined(separator: "  "))
        }.joined(separator: "\n")
    }

    /// Names and values below each other.
    package static func fields(_ fields: [(name: String, value: String)]) -> String {
        let width = fields.map { DisplayWidth.columnCount($0.name) }.max() ?? 0
        return fields.map { field in
            let padding = String(repeating: " ", count: width - DisplayWidth.columnCount(field.name))
            return trimmedAtEnd("\(field.name)\(padding)  \(oneLine(field.value))")
        }.joined(separator: "\n")
    }
}

/// A text from outside as part of a line of ours: nothing in it acts on a terminal or begins another line.
///
/// Each text is cleaned alone, so that a control sequence without an end swallows no more than its own text.
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
