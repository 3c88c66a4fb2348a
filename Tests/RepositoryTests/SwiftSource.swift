// SPDX-License-Identifier: Apache-2.0

/// Swift text with comments and string literals blanked out, so that rules look at code alone.
///
/// Knows line and nested block comments, and plain, raw and multi-line strings with interpolation; lines stay lines.
struct SwiftSource {
    /// The code: every other character is a blank, line ends excepted.
    let code: String

    /// Blanks out what is not code.
    init(_ text: String) {
        var scanner = Scanner(text: Array(text.utf8))
        scanner.scanCode(untilClosingParenthesis: false)
        code = String(decoding: scanner.output, as: UTF8.self)
    }

    /// A function, initializer or deinitializer with its body.
    struct Function {
        /// The line of its first word, from 1.
        let line: Int
        /// Lines from that to the closing brace.
        let lineCount: Int
    }

    /// Each function that has a body.
    var functions: [Function] {
        let bytes = Array(code.utf8)
        var found: [Function] = []
        var line = 1
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            if Self.startsFunction(bytes, at: index), let end = Self.bodyEnd(bytes, from: index) {
                let lineCount = bytes[index...end].count { $0 == UInt8(ascii: "\n") } + 1
                found.append(Function(line: line, lineCount: lineCount))
            }
            index += 1
        }
        return found
    }

    private static func startsFunction(_ bytes: [UInt8], at index: Int) -> Bool {
        // Looked at for every byte of the repository: the cheap question first.
        guard "fid".utf8.contains(bytes[index]) else { return false }
        let isWordStart = index == 0 || !isWordByte(bytes[index - 1])
        guard isWordStart, index == 0 || bytes[index - 1] != UInt8(ascii: ".") else { return false }
        return ["func ", "init(", "init<", "init?(", "deinit "].contains { bytes[index...].starts(with: $0.utf8) }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "`"):
            true
        default: false
        }
    }

    /// The index of the brace that closes the body; nil for a requirement of a protocol, which has none.
    private static func bodyEnd(_ bytes: [UInt8], from start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        for index in start..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "("): parentheses += 1
            case UInt8(ascii: ")"): parentheses -= 1
            case UInt8(ascii: "{") where parentheses == 0 || braces > 0: braces += 1
            case UInt8(ascii: "}") where braces > 0:
                braces -= 1
                if braces == 0 { return index }
            case UInt8(ascii: "}") where parentheses == 0: return nil
            default: break
            }
        }
        return nil
    }
}

/// Copies code and blanks out the rest.
private struct Scanner {
    let text: [UInt8]
    var position = 0
    var output: [UInt8] = []

    init(text: [UInt8]) { self.text = text }

    private func at(_ word: String) -> Bool { text[position...].starts(with: word.utf8) }

    private mutating func copy(_ count: Int = 1) {
        output += text[position..<min(position + count, text.count)]
        position = min(position + count, text.count)
    }

    private mutating func blank(_ count: Int = 1) {
        for byte in text[position..<min(position + count, text.count)] {
            output.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
        }
        position = min(position + count, text.count)
    }

    /// Ends at the end of the text, or at the parenthesis that closes an interpolation.
    mutating func scanCode(untilClosingParenthesis: Bool) {
        var depth = 0
        while position < text.count {
            if copyPlain() { continue }
            if at("//") {
                while position < text.count, !at("\n") { blank() }
            } else if at("/*") {
                blankBlockComment()
            } else if let poundCount = stringStart() {
                blankString(poundCount: poundCount)
            } else {
                if at("(") { depth += 1 }
                if at(")") {
                    if depth == 0, untilClosingParenthesis { return }
                    depth -= 1
                }
                copy()
            }
        }
    }

    /// Copies up to the next byte that may begin something else; false when that is the next one.
    private mutating func copyPlain() -> Bool {
        var end = position
        while end < text.count {
            switch text[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "("), UInt8(ascii: ")"):
                defer { copy(end - position) }
                return end > position
            default: end += 1
            }
        }
        copy(end - position)
        return true
    }

    private mutating func blankBlockComment() {
        var depth = 0
        repeat {
            if at("/*") {
                depth += 1
                blank(2)
            } else if at("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && position < text.count
    }

    /// How many `#` stand before the quotation mark here; nil when no string begins here.
    private func stringStart() -> Int? {
        let pounds = text[position...].prefix { $0 == UInt8(ascii: "#") }
        return pounds.endIndex < text.count && text[pounds.endIndex] == UInt8(ascii: "\"") ? pounds.count : nil
    }

    private mutating func blankString(poundCount: Int) {
        let pounds = String(repeating: "#", count: poundCount)
        blank(poundCount)
        let quotes = at("\"\"\"") ? "\"\"\"" : "\""
        blank(quotes.utf8.count)
        while position < text.count {
            if at(quotes + pounds) {
                blank(quotes.utf8.count + poundCount)
                return
            }
            if at("\\" + pounds + "(") {
                blank(2 + poundCount)
                scanCode(untilClosingParenthesis: true)
                blank()
            } else if at("\\" + pounds) {
                blank(2 + poundCount)
            } else {
                blank()
            }
        }
    }
}
