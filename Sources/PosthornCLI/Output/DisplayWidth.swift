// SPDX-License-Identifier: Apache-2.0

/// The width of a text on a terminal.
enum DisplayWidth {
    /// Returns the number of columns: two for wide East Asian characters and emoji, zero for combining marks.
    static func columnCount(_ text: String) -> Int { text.reduce(0) { $0 + columnCount($1) } }

    /// Truncates a text to the given number of columns; a truncated text ends with an ellipsis.
    static func cut(_ text: String, columnCount limit: Int) -> String {
        guard columnCount(text) > limit else { return text }
        var kept = ""
        var used = 1
        for character in text {
            used += columnCount(character)
            guard used <= limit else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    private static func columnCount(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    /// Returns whether a scalar is in a wide block of Unicode's EastAsianWidth.txt; exceptions in a block are ignored.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default:
            false
        }
    }
}
