// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Describes the errors of payloads that are not JSON objects, for human readers.
package enum PayloadAdvice {
    /// The position of a byte as a text editor shows it.
    package struct ErrorPosition: Equatable, Sendable {
        /// The line number, from 1.
        package var line: Int
        /// The column, in characters from 1.
        package var column: Int
        /// The byte range of the line, without its line ending.
        package var lineRange: Range<Int>
    }

    /// Returns a sentence with the position of an error, the expected input, and the enclosing APNs key if there is
    /// one.
    ///
    /// - Parameters:
    ///   - error: The error of the scanner.
    ///   - payload: The bytes that contain the error.
    /// - Returns: Printable ASCII, at most 200 bytes, without any of the payload's own text. Bytes count from 0, lines
    ///   and
    /// columns from 1.
    package static func sentence(for error: JSONError, in payload: Span<UInt8>) -> String {
        let position = position(of: error.offset, in: payload)
        let context = PayloadContext(payload, upTo: error.offset)
        let around = context.path.map { ", in \($0)" } ?? ""
        return "byte \(error.offset) (line \(position.line), column \(position.column))\(around): "
            + explanation(of: error, in: payload, context)
    }

    /// Returns the position of a byte, or of the end when the offset is too large.
    ///
    /// - Parameters:
    ///   - offset: The offset of the byte, from 0.
    ///   - payload: The whole payload.
    /// - Returns: The line and column.
    package static func position(of offset: Int, in payload: Span<UInt8>) -> ErrorPosition {
        let offset = min(max(offset, 0), payload.count)
        var line = 1
        var start = 0
        for index in 0..<offset where payload[index] == UInt8(ascii: "\n") {
            line += 1
            start = index + 1
        }
        var column = 1
        // UTF-8 continuation bytes are 10xxxxxx.
        for index in start..<offset where payload[index] & 0xC0 != 0x80 { column += 1 }
        var end = offset
        while end < payload.count, payload[end] != UInt8(ascii: "\n"), payload[end] != UInt8(ascii: "\r") { end += 1 }
        return ErrorPosition(line: line, column: column, lineRange: start..<end)
    }

    private static func explanation(
        of error: JSONError, in payload: Span<UInt8>, _ context: PayloadContext
    ) -> String {
        let byte = error.offset >= 0 && error.offset < payload.count ? payload[error.offset] : nil
        switch error.problem {
        case .endsEarly: return early(context)
        case .isNotValue: return notValue(byte, context)
        case .isNotObject: return notObject(byte)
        case .isNotName: return notName(byte, context)
        case .lacksColon: return "expected a colon between a name and its value"
        case .lacksComma: return noComma(byte, context)
        case .hasBadNumber: return "expected a digit; write numbers as 3, -1 or 0.5"
        case .hasControlCharacter: return controlCharacter(byte, context)
        case .hasBadEscape: return "invalid escape sequence; write a backslash in a string twice"
        case .hasLoneSurrogate: return "unpaired surrogate; write both halves of the pair, or UTF-8"
        case .hasBadUTF8: return "invalid UTF-8; encode the payload as UTF-8"
        case .nestsTooDeep: return "arrays and objects are nested more than \(Limits.jsonDepthMax) deep; flatten them"
        case .hasMoreBehind:
            return byte == UInt8(ascii: "}")
                ? "extra closing brace; the object has already ended"
                : "unexpected text after the end of the object; send one object"
        }
    }

    private static func early(_ context: PayloadContext) -> String {
        if let start = context.openString { return "the string that begins at byte \(start) has no closing quote" }
        guard let container = context.innermost else {
            return "the payload is empty; send one JSON object, at least {}"
        }
        switch context.lastByte {
        case UInt8(ascii: ":"): return "expected a value after the colon"
        case UInt8(ascii: ","): return "the payload ends after a comma"
        default: return open(container)
        }
    }

    private static func open(_ container: PayloadContext.Level) -> String {
        container.isObject
            ? "the object that begins at byte \(container.start) has no closing brace"
            : "the array that begins at byte \(container.start) has no closing bracket"
    }

    private static func notValue(_ byte: UInt8?, _ context: PayloadContext) -> String {
        switch byte {
        case UInt8(ascii: "'"): return "a string needs double quotes, not single quotes"
        case UInt8(ascii: "+"): return "a number cannot have a plus sign"
        case UInt8(ascii: "."): return "a number must begin with a digit: write 0.5, not .5"
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return context.lastByte == UInt8(ascii: ",")
                ? "remove the comma before the closing bracket" : "expected a value before the closing bracket"
        case UInt8(ascii: ","): return "expected a value before the comma"
        case UInt8(ascii: "/"): return noComment
        case 0xE2: return "a string needs straight double quotes, not typographic ones"
        case let byte? where byte.isLetterOrDigit || byte >= 0x80:
            return "a string needs double quotes; only numbers, true, false and null have none"
        default: return "expected a value"
        }
    }

    private static let noComment = "JSON has no comments; remove this one"

    private static func notObject(_ byte: UInt8?) -> String {
        switch byte {
        case UInt8(ascii: "["): "the payload is an array, but must be an object: {\"aps\":...}"
        case UInt8(ascii: "\""): "the payload is a string, but must be an object: {\"aps\":...}"
        case 0xEF, 0xFE, 0xFF: "the payload begins with a byte order mark; send UTF-8 without one"
        case 0x1F: "the payload is compressed; send it uncompressed"
        default: "the payload must be one JSON object: {\"aps\":...}"
        }
    }

    private static func notName(_ byte: UInt8?, _ context: PayloadContext) -> String {
        switch byte {
        case UInt8(ascii: "}"): "remove the comma before the closing brace"
        case UInt8(ascii: "'"): "a name needs double quotes, not single quotes"
        case UInt8(ascii: "/"): noComment
        case 0xE2: "a name needs straight double quotes, not typographic ones"
        default: "expected a name in double quotes"
        }
    }

    private static func noComma(_ byte: UInt8?, _ context: PayloadContext) -> String {
        switch byte {
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if let container = context.innermost { return open(container) }
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["):
            return "expected a comma before this"
        case let digit? where Decimal.isDigit(digit) && context.lastByte == UInt8(ascii: "0"):
            return "a number cannot have leading zeros"
        case UInt8(ascii: "/"):
            return noComment
        default:
            if context.lastByte == UInt8(ascii: "\""), let start = context.lastString {
                return "the string that begins at byte \(start) ended before this: its closing quote is missing, "
                    + "or a quote in it lacks a backslash"
            }
        }
        return "expected a comma or the closing bracket"
    }

    private static func controlCharacter(_ byte: UInt8?, _ context: PayloadContext) -> String {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            guard let start = context.openString else { return "write a line break in a string as \\n" }
            return "the string that begins at byte \(start) has no closing quote on its line; "
                + "write a line break in a string as \\n"
        case UInt8(ascii: "\t"): return "write a tab in a string as \\t"
        default: return "write a control character in a string as \\u and four hexadecimal digits"
        }
    }
}
