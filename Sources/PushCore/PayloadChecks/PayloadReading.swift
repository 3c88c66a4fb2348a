// SPDX-License-Identifier: Apache-2.0

/// What kind of value stands somewhere in a JSON text.
enum JSONKind: UInt8 {
    case absent, null, bool, integer, fraction, text, array, object

    /// The kind of the value that begins with a byte and has these bytes.
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

    /// With an article, for a sentence.
    var words: String {
        switch self {
        case .absent: "nothing"
        case .null: "null"
        case .bool: "true or false"
        case .integer: "a whole number"
        case .fraction: "a number with a fraction or an exponent"
        case .text: "a text"
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

/// What one walk over a payload found: where the values of APNs' keys stand.
///
/// Keys that mean nothing are told to a function as they come. Of a key that comes twice the last one counts, as for devices.
struct PayloadReading {
    /// Where a value stands; the range of a text is without its quotes.
    struct Value {
        fileprivate(set) var kind = JSONKind.absent
        fileprivate var start: Int32 = 0
        fileprivate var end: Int32 = 0

        /// Its bytes.
        var range: Range<Int> { Int(start)..<Int(end) }
        /// Whether something stands there that is not null.
        var isGiven: Bool { kind != .absent && kind != .null }
    }

    /// A key without a meaning, and its value.
    struct Unknown {
        let container: PayloadField.Container
        /// As it is, with upper and lower case and escapes.
        let name: Range<Int>
        let value: Range<Int>
        let kind: JSONKind
    }

    /// By the number of the field; a few more than there are.
    private var values = InlineArray<48, Value>(repeating: Value())

    /// The fields that have a value other than null, one bit for the number of each.
    private(set) var given: UInt64 = 0

    /// The value of a field.
    subscript(field: PayloadField) -> Value {
        // Through the span, because the array's own subscript copies the whole array.
        values.span[Int(field.rawValue)]
    }

    /// Walks over the payload once.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - visit: Takes each key that means nothing, in order.
    /// - Throws: `JSONError`, when it is no JSON object.
    init(_ bytes: Span<UInt8>, visit: (Unknown) -> Void) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, bytes) }
        try readMembers(of: .payload, bytes, &scanner, visit: visit)
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == nil else { throw scanner.failure(.hasMoreBehind, bytes) }
    }

    /// Reads an object, whose opening brace is at the place.
    private mutating func readMembers(
        of container: PayloadField.Container, _ bytes: Span<UInt8>, _ scanner: inout JSONScanner,
        visit: (Unknown) -> Void
    ) throws(JSONError) {
        scanner.advance()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) != UInt8(ascii: "}") else { return scanner.advance() }
        while true {
            let name = try Self.readName(bytes, &scanner)
            // One with escapes equals none: nobody writes these names so.
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

    /// Reads the value of a field, and the fields in it.
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

    /// Forgets the fields of an earlier object of the same key.
    private mutating func forget(_ container: PayloadField.Container) {
        guard values[Int(container.field.rawValue)].kind != .absent else { return }
        for field in PayloadField.allCases where field != .aps && field.isInside(container) {
            values[Int(field.rawValue)] = Value()
            given &= ~((1 as UInt64) << UInt64(field.rawValue))
        }
    }

    /// Passes a name with its colon and the blanks around them, and answers where it stands, without its quotes.
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
    /// The container that its value is, when that is an object.
    var asContainer: Container? {
        switch self {
        case .aps: .aps
        case .alert: .alert
        case .sound: .sound
        default: nil
        }
    }

    /// Whether it stands in a container or in one of those in it.
    fileprivate func isInside(_ container: Container) -> Bool {
        container == .aps || definition.container == container
    }
}

extension PayloadField.Container {
    /// The field whose value it is.
    fileprivate var field: PayloadField {
        switch self {
        case .payload, .aps: .aps
        case .alert: .alert
        case .sound: .sound
        }
    }
}
