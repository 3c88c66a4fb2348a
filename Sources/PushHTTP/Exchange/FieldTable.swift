// SPDX-License-Identifier: Apache-2.0

/// Request fields in one buffer, without an allocation per field once the buffer has grown.
///
/// Repeated fields are all kept, in their order on the wire: who reads them decides what a repetition means.
package struct FieldTable {
    /// One field, as ranges of the table's `bytes`.
    package struct Field {
        /// Where the name stands in `bytes`.
        package var name: Range<Int>
        /// Where the value stands in `bytes`.
        package var value: Range<Int>
    }

    /// Names and values, one after the other; names in lower case.
    package private(set) var bytes: [UInt8] = []
    /// The fields in their order on the wire, without pseudo-fields.
    package private(set) var fields: [Field] = []

    /// A buffer above this size is given back after its request: one hostile request would keep it for ever.
    private static let keptCapacityMax = 4096

    /// Makes an empty table.
    package init() {}

    /// Whether a field of this table has this name, which is written in lower case.
    package func name(of field: Field, equals name: StaticString) -> Bool {
        guard field.name.count == name.utf8CodeUnitCount else { return false }
        let span = bytes.span
        return name.withUTF8Buffer { expected in
            for index in 0..<expected.count
            where unsafe span[field.name.lowerBound + index] != expected[index] {
                return false
            }
            return true
        }
    }

    /// The value of the first field of this name, which is written in lower case, as a range of `bytes`.
    package func value(of name: StaticString) -> Range<Int>? {
        for field in fields where self.name(of: field, equals: name) { return field.value }
        return nil
    }

    /// The bytes of a range as text, with U+FFFD for what is not UTF-8.
    package func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Appends bytes that belong to no field, such as a path.
    ///
    /// - Parameter added: The bytes, which are copied.
    /// - Returns: Where they stand in `bytes`.
    mutating func appendBytes(_ added: Span<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(added)
        return start..<bytes.count
    }

    /// Appends a field whose name is in lower case already.
    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        let start = bytes.count
        let middle = start + name.count
        bytes.append(name, value)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Appends a field and makes the letters of its name small.
    mutating func append(lowercasing name: Span<UInt8>, value: Span<UInt8>) {
        let start = bytes.count
        for index in 0..<name.count { bytes.append(name[index].asciiLowercased) }
        let nameRange = start..<bytes.count
        fields.append(Field(name: nameRange, value: appendBytes(value)))
    }

    /// Bytes that the table's arrays take up.
    var heldByteCount: Int { bytes.capacity + fields.capacity * MemoryLayout<Field>.stride }

    /// Empties the table and keeps the memory worth keeping.
    mutating func removeAll() {
        guard !bytes.isEmpty || !fields.isEmpty else { return }
        if bytes.capacity > Self.keptCapacityMax { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
        fields.removeAll(keepingCapacity: true)
    }
}
