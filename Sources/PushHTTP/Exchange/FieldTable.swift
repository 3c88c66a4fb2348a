// SPDX-License-Identifier: Apache-2.0

/// The request fields in one buffer, without an allocation per field once the buffer has grown.
///
/// Repeated fields are all kept, in their order on the wire: the reader of a field decides how to treat repetitions.
package struct FieldTable {
    /// One field, as ranges of the table's `bytes`.
    package struct Field {
        /// The position of the name in `bytes`.
        package var name: Range<Int>
        /// The position of the value in `bytes`.
        package var value: Range<Int>
    }

    /// The names and values, one after the other; names are in lower case.
    package private(set) var bytes: [UInt8] = []
    /// The fields in their order on the wire, without pseudo-fields.
    package private(set) var fields: [Field] = []

    /// The capacity in bytes above which the buffer is released after its request; otherwise one hostile request would
    /// pin it.
    private static let keptCapacityMax = 4096

    /// Creates an empty table.
    package init() {}

    /// Returns whether a field of this table has this name, which must be in lower case.
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

    /// Returns the value of the first field with this lower-case name, as a range of `bytes`.
    package func value(of name: StaticString) -> Range<Int>? {
        for field in fields where self.name(of: field, equals: name) { return field.value }
        return nil
    }

    /// Returns the bytes of a range as text, with U+FFFD in place of invalid UTF-8.
    package func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Appends bytes that belong to no field, such as a path.
    ///
    /// - Parameter added: The bytes, which are copied.
    /// - Returns: Their position in `bytes`.
    mutating func appendBytes(_ added: Span<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(added)
        return start..<bytes.count
    }

    /// Appends a field whose name is already in lower case.
    mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        let start = bytes.count
        let middle = start + name.count
        bytes.append(name, value)
        fields.append(Field(name: start..<middle, value: middle..<bytes.count))
    }

    /// Appends a field and converts its name to lower case.
    mutating func append(lowercasing name: Span<UInt8>, value: Span<UInt8>) {
        let start = bytes.count
        for index in 0..<name.count { bytes.append(name[index].asciiLowercased) }
        let nameRange = start..<bytes.count
        fields.append(Field(name: nameRange, value: appendBytes(value)))
    }

    /// The number of bytes that the table's arrays occupy.
    var heldByteCount: Int { bytes.capacity + fields.capacity * MemoryLayout<Field>.stride }

    /// Empties the table; keeps the memory unless it exceeds `keptCapacityMax`.
    mutating func removeAll() {
        guard !bytes.isEmpty || !fields.isEmpty else { return }
        if bytes.capacity > Self.keptCapacityMax { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
        fields.removeAll(keepingCapacity: true)
    }
}
