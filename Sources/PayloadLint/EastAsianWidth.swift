// SPDX-License-Identifier: Apache-2.0

/// Character classes of the text checks: East Asian width, and punctuation beside words.
extension Unicode.Scalar {
    /// Whether the scalar takes two columns: emoji, and the wide blocks of Unicode's EastAsianWidth.txt.
    var isWide: Bool {
        switch value {
        case 0..<0x1100: false
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// Whether the scalar belongs to a script without spaces between words and is not wide.
    var isOfUnspacedScript: Bool {
        switch value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true
        default: false
        }
    }

    /// Whether the scalar is whitespace between words.
    var isBlank: Bool {
        switch value {
        case 0x20, 0x09...0x0D, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    /// Whether the scalar is a quotation mark around a label.
    var isQuote: Bool {
        switch self {
        case "\"", "'", "“", "”", "‘", "’", "「", "」", "『", "』": true
        default: false
        }
    }

    /// Whether the scalar closes a quotation or a bracket.
    var isCloser: Bool {
        switch self {
        case "\"", "'", "”", "’", "»", ")", "]", "}", "」", "』", "）", "】", "》": true
        default: false
        }
    }

    /// Whether the scalar ends a sentence at any position.
    var isWideSentenceEnd: Bool { self == "。" || self == "！" || self == "？" }

    /// Whether the scalar ends a sentence before whitespace, a closing quotation mark or the end of the text.
    var isSentenceEnd: Bool {
        switch self {
        case ".", "!", "?", "…", "؟", "।", "։", "።": true
        default: false
        }
    }
}
