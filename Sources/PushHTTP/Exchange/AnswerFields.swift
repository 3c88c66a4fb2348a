// SPDX-License-Identifier: Apache-2.0

/// The fields of an answer, independent of the protocol version.
struct AnswerFields {
    /// The storage of a field's value.
    enum Value {
        /// A literal, whose bytes live as long as the program.
        case literal(StaticString)
        /// A range of the owner's `bytes`; most answers have another value.
        case copied(Range<Int>)
        /// A range of the owner's `bytes`; many answers have the same value.
        case repeated(Range<Int>)
    }

    /// One field of the answer.
    struct Field {
        /// The field's name in lower case.
        var name: StaticString
        var value: Value
    }

    /// The bytes of copied values.
    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    /// An empty list with enough capacity for most answers.
    static var withRoom: AnswerFields {
        var fields = AnswerFields()
        fields.bytes.reserveCapacity(96)
        fields.fields.reserveCapacity(4)
        return fields
    }

    mutating func append(_ name: StaticString, _ value: StaticString) {
        fields.append(Field(name: name, value: .literal(value)))
    }

    /// Copies a value; a byte that could end a field or a line becomes a space.
    ///
    /// Values often echo bytes from the peer, and HTTP/1.1 has no other protection against a line break in a value.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - value: The value, which is copied.
    ///   - isRepeated: Whether many answers have the same value.
    mutating func append(_ name: StaticString, _ value: Span<UInt8>, isRepeated: Bool = false) {
        let start = bytes.count
        bytes.append(value)
        if !value.isFieldValue { replaceControlCharacters(from: start) }
        let range = start..<bytes.count
        fields.append(Field(name: name, value: isRepeated ? .repeated(range) : .copied(range)))
    }

    private mutating func replaceControlCharacters(from start: Int) {
        for index in start..<bytes.count where (bytes[index] < 0x20 && bytes[index] != 0x09) || bytes[index] == 0x7F {
            bytes[index] = 0x20
        }
    }

    /// Adds the status as HTTP/2's `:status`, usually as a literal.
    mutating func append(status: Int) {
        switch status {
        case 200: return append(":status", "200")
        case 400: return append(":status", "400")
        case 410: return append(":status", "410")
        default: break
        }
        let start = bytes.count
        bytes.append(number: status)
        fields.append(Field(name: ":status", value: .repeated(start..<bytes.count)))
    }

    /// The number of bytes that the list's arrays occupy.
    var heldByteCount: Int { bytes.capacity + fields.capacity * MemoryLayout<Field>.stride }

    /// Empties the list and keeps its memory.
    mutating func removeAll() {
        guard !fields.isEmpty else { return }
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }
}
