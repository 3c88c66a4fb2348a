// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A table with aligned columns.
struct Table: Sendable {
    /// A column's heading and alignment.
    struct Column: Sendable {
        let heading: String
        var isNumber = false
        var isName = false
        var isWrapped = false

        /// Returns a left-aligned column for text.
        static func text(_ heading: String) -> Column { Column(heading: heading) }

        /// Returns a left-aligned column for names, which are shortened if the table is too wide.
        static func name(_ heading: String) -> Column { Column(heading: heading, isName: true) }

        /// Returns a last column for sentences, which continue on further lines.
        static func sentence(_ heading: String) -> Column { Column(heading: heading, isWrapped: true) }

        /// Returns a right-aligned column for numbers.
        static func number(_ heading: String) -> Column { Column(heading: heading, isNumber: true) }
    }

    /// The minimum width to which a name is shortened, in terminal columns.
    private static let nameColumnCountMin = 12
    /// The width that a column for sentences gets by shortening names, in terminal columns.
    private static let sentenceColumnCountMin = 20

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
        let widths = widths(of: lines)
        return lines.flatMap { wrapped($0, widths) }.map { line in
            let cells = columns.indices.map { column in
                let cell =
                    columns[column].isName ? DisplayWidth.cut(line[column], columnCount: widths[column]) : line[column]
                let padding = String(repeating: " ", count: max(0, widths[column] - DisplayWidth.columnCount(cell)))
                return columns[column].isNumber ? padding + cell : cell + padding
            }
            return trimmedAtEnd(cells.joined(separator: "  "))
        }.joined(separator: "\n")
    }

    /// Returns the width of each column; a table that is too wide has shorter names and sentences.
    private func widths(of lines: [[String]]) -> [Int] {
        var widths = columns.indices.map { column in lines.map { DisplayWidth.columnCount($0[column]) }.max() ?? 0 }
        func excess() -> Int {
            let sentence = columns.indices.last { columns[$0].isWrapped }
            let shown = columns.indices.map { column in
                column == sentence ? min(widths[column], Self.sentenceColumnCountMin) : widths[column]
            }
            return shown.reduce(2 * (columns.count - 1), +) - Terminal.columnCount
        }
        while excess() > 0,
            let longest = columns.indices.filter({ columns[$0].isName && widths[$0] > Self.nameColumnCountMin })
                .max(by: { widths[$0] < widths[$1] })
        {
            widths[longest] -= 1
        }
        if let sentence = columns.indices.last(where: { columns[$0].isWrapped }) {
            let others = widths.indices.filter { $0 != sentence }.reduce(2 * (columns.count - 1)) { $0 + widths[$1] }
            widths[sentence] = min(widths[sentence], max(Self.nameColumnCountMin, Terminal.columnCount - others))
        }
        return widths
    }

    /// Returns a row as one or more lines, between which its sentence is broken.
    private func wrapped(_ row: [String], _ widths: [Int]) -> [[String]] {
        guard let column = columns.indices.last(where: { columns[$0].isWrapped }) else { return [row] }
        return Self.broken(row[column], columnCount: widths[column]).enumerated().map { place, part in
            var line = place == 0 ? row : row.map { _ in "" }
            line[column] = part
            return line
        }
    }

    /// Breaks a text between words; a word that is wider than a line is not broken.
    private static func broken(_ text: String, columnCount: Int) -> [String] {
        var parts: [String] = [""]
        for word in text.split(separator: " ") {
            let longer = parts[parts.count - 1].isEmpty ? String(word) : parts[parts.count - 1] + " " + word
            if DisplayWidth.columnCount(longer) <= columnCount || parts[parts.count - 1].isEmpty {
                parts[parts.count - 1] = longer
            } else {
                parts.append(String(word))
            }
        }
        return parts
    }

    /// Formats names and values in two columns; long values continue on further lines if there is a maximum width.
    static func fields(_ fields: [(name: String, value: String)], columnCountMax: Int? = nil) -> String {
        let width = fields.map { DisplayWidth.columnCount($0.name) }.max() ?? 0
        return fields.map { field in
            let padding = String(repeating: " ", count: width - DisplayWidth.columnCount(field.name))
            let value = oneLine(field.value)
            let lines = columnCountMax.map { broken(value, columnCount: $0 - width - 2) } ?? [value]
            let indent = "\n" + String(repeating: " ", count: width + 2)
            return trimmedAtEnd("\(field.name)\(padding)  \(lines.joined(separator: indent))")
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
