// SPDX-License-Identifier: Apache-2.0

/// Blanks out comments and string literals in Swift text, so that rules examine code only.
///
/// Handles line comments, nested block comments, and plain, raw and multi-line strings with interpolation. Line numbers
/// do not change.
struct SwiftSource {
    /// The code.
    ///
    /// A blank replaces every character that is not code, except line ends.
    let code: String

    /// Blanks out everything that is not code.
    init(_ text: String) {
        var scanner = Scanner(text: Array(text.utf8))
        scanner.scanCode(untilClosingParenthesis: false)
        code = String(decoding: scanner.output, as: UTF8.self)
    }

    /// A function, initializer or deinitializer with its body.
    struct Function {
        /// The 1-based line of the declaration's first word.
        let line: Int
        /// The number of lines from the first word to the closing brace.
        let lineCount: Int
    }

    /// All functions that have a body.
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
        // This runs for every byte of the repository, so the cheapest check comes first.
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

    /// Returns the index of the brace that closes the body, or nil for a protocol requirement, which has none.
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

    /// Scans to the end of the text, or to the parenthesis that closes an interpolation.
    mutating func scanCode(untilClosingParenthesis: Bool) {
        var depth = 0
        while position < text.count {
            if copyPlain() { continue }
            if at("//") {
                blankPlain(until: [UInt8(ascii: "\n")])
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

    /// Copies bytes up to the next one that may start a comment or a string.
    ///
    /// Returns false when that is the next byte.
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
                blankPlain(until: [UInt8(ascii: "/"), UInt8(ascii: "*")])
            }
        } while depth > 0 && position < text.count
    }

    /// Returns the number of `#` before the quotation mark here, or nil if no string starts here.
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
                blankPlain(until: [UInt8(ascii: "\""), UInt8(ascii: "\\")])
            }
        }
    }

    /// Blanks out bytes up to one of the given ones, which the caller examines.
    private mutating func blankPlain(until ends: [UInt8]) {
        var end = position
        while end < text.count, !ends.contains(text[end]) { end += 1 }
        blank(end - position)
    }
}
