// SPDX-License-Identifier: Apache-2.0

/// Appends the parts of a JSON text to bytes.
///
/// ```swift
/// output.append(UInt8(ascii: "{"))
/// JSONWriter.append(key: "name", to: &output)
/// JSONWriter.append("Mail", to: &output)
/// output.append(UInt8(ascii: "}"))
/// ```
package enum JSONWriter {
    /// Appends a name and its colon, after a comma unless the name is the first in its object.
    package static func append(key: String, to output: inout [UInt8]) {
        // No value ends in an opening brace, so a trailing one is the start of the object itself.
        if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        append(key, to: &output)
        output.append(UInt8(ascii: ":"))
    }

    /// Appends a quoted string.
    package static func append(_ text: String, to output: inout [UInt8]) {
        append(utf8: text.utf8.span, to: &output)
    }

    /// Appends a quoted string from bytes that the caller knows to be UTF-8.
    package static func append(utf8 text: Span<UInt8>, to output: inout [UInt8]) {
        let byteCountMax = needsEscape(text) ? quotedByteCountMax(text.count) : text.count + 2
        output.append(addingCapacity: byteCountMax) { append(utf8: text, to: &$0) }
    }

    /// Returns the largest number of bytes that `append(utf8:to:)` appends for a text of this length.
    package static func quotedByteCountMax(_ byteCount: Int) -> Int { 6 * byteCount + 2 }

    /// Appends a quoted string to space for at least `quotedByteCountMax` bytes.
    package static func append(_ text: String, to output: inout OutputSpan<UInt8>) {
        append(utf8: text.utf8.span, to: &output)
    }

    /// Appends a quoted string to space for at least `quotedByteCountMax` bytes.
    package static func append(utf8 text: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\""))
        if needsEscape(text) {
            for offset in text.indices { append(text[offset], to: &output) }
        } else {
            output.append(text)
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Appends an integer.
    package static func append(_ number: Int64, to output: inout [UInt8]) {
        Decimal.append(number, to: &output)
    }

    /// Appends `true` or `false`.
    package static func append(_ flag: Bool, to output: inout [UInt8]) {
        output.append(flag ? "true" : "false")
    }

    /// Appends a tree without whitespace.
    package static func append(_ value: JSONValue, to output: inout [UInt8]) {
        switch value {
        case .null: output.append("null")
        case .bool(let flag): append(flag, to: &output)
        case .integer(let number): append(number, to: &output)
        case .number(let text): output.append(text)
        case .string(let text): append(text, to: &output)
        case .array(let elements): append(elements, to: &output)
        case .object(let members): append(members, to: &output)
        }
    }

    private static func append(_ elements: [JSONValue], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            append(element, to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    private static func append(_ members: [JSONValue.Member], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for member in members {
            append(key: member.key, to: &output)
            append(member.value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Returns whether any byte of a text must be escaped in a string.
    private static func needsEscape(_ text: Span<UInt8>) -> Bool {
        text.isMarked(
            { $0.marks(of: UInt8(ascii: "\"")) | $0.marks(of: UInt8(ascii: "\\")) | $0.controlCharacterMarks },
            orByte: needsEscape)
    }

    /// Returns whether a byte must be escaped in a string.
    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Appends a byte of a string, as an escape sequence if necessary.
    private static func append(_ byte: UInt8, to output: inout OutputSpan<UInt8>) {
        guard needsEscape(byte) else { return output.append(byte) }
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0..<0x20:
            output.append(literal: "u00")
            output.append(Hex.digit(byte >> 4))
            output.append(Hex.digit(byte & 0xF))
        default: output.append(byte)
        }
    }
}
