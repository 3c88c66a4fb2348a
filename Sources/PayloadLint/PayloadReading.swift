// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The kind of a JSON value.
enum JSONKind: UInt8 {
    case absent, null, bool, integer, fraction, text, array, object

    /// Determines the kind from the bytes of a value.
    @inline(__always)
    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        switch bytes[range.lowerBound] {
        case UInt8(ascii: "\""): self = .text
        case UInt8(ascii: "{"): self = .object
        case UInt8(ascii: "["): self = .array
        case UInt8(ascii: "n"): self = .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .bool
        default: self = Self.isInteger(bytes, range) ? .integer : .fraction
        }
    }

    /// The kind with its article, for a sentence.
    var words: String {
        switch self {
        case .absent: "nothing"
        case .null: "null"
        case .bool: "true or false"
        case .integer: "a whole number"
        case .fraction: "a number with a fraction or an exponent"
        case .text: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    private static func isInteger(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        for offset in range where !Decimal.isDigit(bytes[offset]) && bytes[offset] != UInt8(ascii: "-") {
            return false
        }
        return true
    }
}

/// The ranges of the values of APNs' keys in a payload, found in one pass.
///
/// Keys that APNs does not define are passed to a closure in order. If a key occurs twice, the last one counts, as on
/// devices.
struct PayloadReading {
    /// The kind and position of a value; the range of a string excludes its quotes.
    struct Value {
        fileprivate(set) var kind = JSONKind.absent
        fileprivate var start: Int32 = 0
        fileprivate var end: Int32 = 0

        /// The byte range of the value.
        var range: Range<Int> { Int(start)..<Int(end) }
        /// Whether a value other than null is present.
        var isGiven: Bool { kind != .absent && kind != .null }
    }

    /// A key that APNs does not define, with its value.
    struct Unknown {
        let container: PayloadField.Container
        /// The range of the name, with its original case and escapes.
        let name: Range<Int>
        let value: Range<Int>
        let kind: JSONKind
    }

    /// The values, indexed by the raw value of the field; the array has a few spare elements.
    private var values = InlineArray<48, Value>(repeating: Value())

    /// A bit set of the fields with a value other than null; the raw value of the field is the bit number.
    private(set) var given: UInt64 = 0

    /// Returns the value of a field.
    subscript(field: PayloadField) -> Value {
        // The span avoids a copy: the array's own subscript copies the whole array.
        values.span[Int(field.rawValue)]
    }

    /// Parses the payload in one pass.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - visit: The closure that receives each key that APNs does not define, in order.
    /// - Throws: `JSONError`, when the payload is not a JSON object.
    init(_ bytes: Span<UInt8>, visit: (Unknown) -> Void) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, bytes) }
        try readMembers(of: .payload, bytes, &scanner, visit: visit)
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == nil else { throw scanner.failure(.hasMoreBehind, bytes) }
    }

    /// Parses an object whose opening brace is at the current offset.
    private mutating func readMembers(
        of container: PayloadField.Container, _ bytes: Span<UInt8>, _ scanner: inout JSONScanner,
        visit: (Unknown) -> Void
    ) throws(JSONError) {
        scanner.advance()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) != UInt8(ascii: "}") else { return scanner.advance() }
        while true {
            let name = try Self.readName(bytes, &scanner)
            // A name with escapes matches no field, but no known sender escapes these names.
            if let field = PayloadField.named(PackedText(bytes, name), in: container) {
                try readValue(of: field, bytes, &scanner, visit: visit)
            } else {
                let start = scanner.offset
                try scanner.skipValue(bytes, outerDepth: container.depth)
                let range = start..<scanner.offset
                visit(Unknown(container: container, name: name, value: range, kind: JSONKind(bytes, range)))
            }
            scanner.skipBlanks(bytes)
            guard let byte = scanner.peek(bytes), byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") else {
                throw scanner.failure(.lacksComma, bytes)
            }
            scanner.advance()
            if byte == UInt8(ascii: "}") { return }
            scanner.skipBlanks(bytes)
        }
    }

    /// Parses the value of a field and the fields inside it.
    private mutating func readValue(
        of field: PayloadField, _ bytes: Span<UInt8>, _ scanner: inout JSONScanner, visit: (Unknown) -> Void
    ) throws(JSONError) {
        let start = scanner.offset
        let container = field.asContainer
        if let container { forget(container) }
        if scanner.peek(bytes) == UInt8(ascii: "{"), let container {
            try readMembers(of: container, bytes, &scanner, visit: visit)
        } else {
            try scanner.skipValue(bytes, outerDepth: field.definition.container.depth)
        }
        let range = start..<scanner.offset
        let kind = JSONKind(bytes, range)
        let quote = kind == .text ? 1 : 0
        let value = Value(
            kind: kind, start: Int32(clamping: range.lowerBound + quote),
            end: Int32(clamping: range.upperBound - quote))
        values[Int(field.rawValue)] = value
        let bit = (1 as UInt64) << UInt64(field.rawValue)
        given = value.isGiven ? given | bit : given & ~bit
    }

    /// Resets the fields of an earlier object with the same key.
    private mutating func forget(_ container: PayloadField.Container) {
        guard values[Int(container.field.rawValue)].kind != .absent else { return }
        for field in PayloadField.allCases where field != .aps && field.isInside(container) {
            values[Int(field.rawValue)] = Value()
            given &= ~((1 as UInt64) << UInt64(field.rawValue))
        }
    }

    /// Skips a name with its colon and the surrounding whitespace; returns the name's range without its quotes.
    @inline(__always)
    private static func readName(_ bytes: Span<UInt8>, _ scanner: inout JSONScanner) throws(JSONError) -> Range<Int> {
        guard scanner.peek(bytes) == UInt8(ascii: "\"") else { throw scanner.failure(.isNotName, bytes) }
        let start = scanner.offset + 1
        try scanner.skipString(bytes)
        let end = scanner.offset - 1
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == UInt8(ascii: ":") else { throw scanner.failure(.lacksColon, bytes) }
        scanner.advance()
        scanner.skipBlanks(bytes)
        return start..<end
    }
}

extension PayloadField {
    /// The container that an object value of the field represents; nil for fields without defined keys.
    var asContainer: Container? {
        switch self {
        case .aps: .aps
        case .alert: .alert
        case .sound: .sound
        default: nil
        }
    }

    /// Returns whether the field is inside a container, directly or indirectly.
    fileprivate func isInside(_ container: Container) -> Bool {
        container == .aps || definition.container == container
    }
}

extension PayloadField.Container {
    /// The field whose value is the container.
    fileprivate var field: PayloadField {
        switch self {
        case .payload, .aps: .aps
        case .alert: .alert
        case .sound: .sound
        }
    }
}
