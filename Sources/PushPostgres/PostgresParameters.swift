// SPDX-License-Identifier: Apache-2.0

/// The parameters of a statement in PostgreSQL's binary form, in buffers that are reused.
///
/// Numbers are big-endian. An array has a header and, for each element, its length and its bytes:
///
/// ```
///   dimensions 1 │ has NULLs 0/1 │ type │ count │ first index 1 │ length, bytes │ length, bytes │ …
/// ```
///
/// Adding an element allocates nothing unless the buffer must grow. Parameters are counted from 0 here.
@safe
package final class PostgresParameters {
    /// The type of a parameter.
    package enum Kind: Sendable {
        case int64
        case text
        case bytes
        case int64Array
        case bytesArray

        var type: PostgresType {
            switch self {
            case .int64: .int8
            case .text: .text
            case .bytes: .bytea
            case .int64Array: .int8Array
            case .bytesArray: .byteaArray
            }
        }
    }

    private static let headerByteCount = 20
    /// The size of an array without elements, whose header ends after the type.
    private static let emptyArrayByteCount = 12
    /// The capacity above which a buffer is released instead of reused, so that a burst does not pin its memory.
    private static let keptCapacityMax = 4 << 20

    /// One parameter; its buffer has `capacity` bytes, of which `byteCount` are in use.
    @safe
    private struct Column {
        var start: UnsafeMutableRawPointer
        var capacity: Int
        var byteCount = 0
        var type = PostgresType.derived
        var isNull = true
        var elementCount: Int32 = 0
        var hasNullElements = false

        init(capacity: Int) {
            unsafe start = .allocate(byteCount: capacity, alignment: 8)
            self.capacity = capacity
        }

        var isArray: Bool { type == .int8Array || type == .byteaArray }
    }

    /// The number of parameters.
    package let count: Int
    private let hasFixedTypes: Bool
    private let columns: UnsafeMutablePointer<Column>
    // The arrays that libpq takes.
    private let values: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let byteCounts: UnsafeMutablePointer<Int32>
    private let formats: UnsafeMutablePointer<Int32>

    /// Creates parameters of fixed types; arrays are empty, and the others are NULL.
    package convenience init(_ kinds: [Kind]) {
        self.init(count: kinds.count, hasFixedTypes: true)
        for (index, kind) in kinds.enumerated() { unsafe columns[index].type = kind.type }
        removeAll()
    }

    /// Creates parameters whose types follow from their values; all are NULL.
    init(count: Int, hasFixedTypes: Bool = false) {
        self.count = count
        self.hasFixedTypes = hasFixedTypes
        unsafe columns = .allocate(capacity: count)
        unsafe values = .allocate(capacity: count)
        unsafe byteCounts = .allocate(capacity: count)
        unsafe formats = .allocate(capacity: count)
        for index in 0..<count { unsafe (columns + index).initialize(to: Column(capacity: 32)) }
        unsafe values.initialize(repeating: nil, count: count)
        unsafe byteCounts.initialize(repeating: 0, count: count)
        unsafe formats.initialize(repeating: 1, count: count)
    }

    deinit {
        for index in 0..<count { unsafe columns[index].start.deallocate() }
        unsafe columns.deallocate()
        unsafe values.deallocate()
        unsafe byteCounts.deallocate()
        unsafe formats.deallocate()
    }

    /// The types of the parameters.
    var types: [PostgresType] { (0..<count).map { unsafe columns[$0].type } }

    /// Empties the arrays and makes the other parameters NULL.
    package func removeAll() {
        for index in 0..<count {
            if unsafe columns[index].capacity > Self.keptCapacityMax {
                unsafe columns[index].start.deallocate()
                unsafe columns[index].start = .allocate(byteCount: 32, alignment: 8)
                unsafe columns[index].capacity = 32
            }
            let isArray = unsafe columns[index].isArray
            unsafe columns[index].byteCount = isArray ? Self.headerByteCount : 0
            unsafe columns[index].elementCount = 0
            unsafe columns[index].hasNullElements = false
            unsafe columns[index].isNull = !isArray
        }
    }

    // MARK: Values

    /// Sets a number.
    package func set(_ value: Int64, at index: Int) {
        reset(index, to: .int8)
        unsafe reserve(8, at: index).storeBytes(of: value.bigEndian, as: Int64.self)
    }

    /// Sets a number or NULL.
    package func set(_ value: Int64?, at index: Int) {
        if let value { set(value, at: index) } else { setNull(.int8, at: index) }
    }

    /// Sets an array of bytes.
    package func set(_ value: Span<UInt8>, at index: Int) { set(value, .bytea, at: index) }

    /// Sets bytes or NULL.
    package func set(_ value: [UInt8]?, at index: Int) {
        if let value { set(value.span, .bytea, at: index) } else { setNull(.bytea, at: index) }
    }

    /// Sets a text or NULL.
    package func set(_ value: String?, at index: Int) {
        if let value { set(value.utf8.span, .text, at: index) } else { setNull(.text, at: index) }
    }

    private func set(_ value: Span<UInt8>, _ type: PostgresType, at index: Int) {
        reset(index, to: type)
        copy(value, at: index)
    }

    private func setNull(_ type: PostgresType, at index: Int) {
        reset(index, to: type)
        unsafe columns[index].isNull = true
    }

    private func reset(_ index: Int, to type: PostgresType) {
        check(index)
        precondition(
            unsafe !hasFixedTypes || columns[index].type == type, "the parameter \(index) does not have this type")
        unsafe columns[index].type = type
        unsafe columns[index].byteCount = 0
        unsafe columns[index].isNull = false
    }

    // MARK: Elements of arrays

    /// Adds a number to an array.
    package func append(_ value: Int64, to index: Int) {
        beginElement(.int8Array, of: index)
        let place = unsafe reserve(12, at: index)
        unsafe place.storeBytes(of: Int32(8).bigEndian, as: Int32.self)
        unsafe place.storeBytes(of: value.bigEndian, toByteOffset: 4, as: Int64.self)
    }

    /// Adds a number or NULL to an array.
    package func append(_ value: Int64?, to index: Int) {
        guard let value else {
            beginElement(.int8Array, of: index)
            unsafe columns[index].hasNullElements = true
            unsafe reserve(4, at: index).storeBytes(of: Int32(-1).bigEndian, as: Int32.self)
            return
        }
        append(value, to: index)
    }

    /// Adds bytes to an array.
    package func append(_ value: Span<UInt8>, to index: Int) {
        beginElement(.byteaArray, of: index)
        guard let byteCount = Int32(exactly: value.count) else {
            preconditionFailure("an element has \(value.count) bytes")
        }
        unsafe reserve(4, at: index).storeBytes(of: byteCount.bigEndian, as: Int32.self)
        copy(value, at: index)
    }

    /// The number of elements in an array.
    package func elementCount(of index: Int) -> Int {
        check(index)
        return Int(unsafe columns[index].elementCount)
    }

    private func beginElement(_ type: PostgresType, of index: Int) {
        check(index)
        precondition(unsafe columns[index].type == type, "the parameter \(index) is not an array of this type")
        unsafe columns[index].elementCount += 1
    }

    // MARK: For libpq

    /// Calls a closure with the arrays of pointers, lengths and formats that libpq takes.
    func withArrays<Result>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>, _ byteCounts: UnsafePointer<Int32>,
            _ formats: UnsafePointer<Int32>
        ) -> Result
    ) -> Result {
        for index in 0..<count {
            if unsafe columns[index].isArray { finishArray(index) }
            let isNull = unsafe columns[index].isNull
            unsafe values[index] =
                isNull ? nil : UnsafePointer(columns[index].start.assumingMemoryBound(to: CChar.self))
            guard let byteCount = Int32(exactly: unsafe columns[index].byteCount) else {
                preconditionFailure("the parameter \(index) has more than 2 GiB")
            }
            let isEmptyArray = unsafe columns[index].isArray && columns[index].elementCount == 0
            unsafe byteCounts[index] = isEmptyArray ? Int32(Self.emptyArrayByteCount) : byteCount
        }
        return unsafe body(Int32(count), values, byteCounts, formats)
    }

    /// Writes the header of an array.
    private func finishArray(_ index: Int) {
        let (start, count) = unsafe (columns[index].start, columns[index].elementCount)
        let element = unsafe columns[index].type == .int8Array ? PostgresType.int8 : .bytea
        unsafe start.storeBytes(of: Int32(count == 0 ? 0 : 1).bigEndian, as: Int32.self)
        unsafe start.storeBytes(
            of: Int32(columns[index].hasNullElements ? 1 : 0).bigEndian, toByteOffset: 4, as: Int32.self)
        unsafe start.storeBytes(of: element.rawValue.bigEndian, toByteOffset: 8, as: UInt32.self)
        unsafe start.storeBytes(of: count.bigEndian, toByteOffset: 12, as: Int32.self)
        unsafe start.storeBytes(of: Int32(1).bigEndian, toByteOffset: 16, as: Int32.self)
    }

    // MARK: Buffers

    private func copy(_ value: Span<UInt8>, at index: Int) {
        let place = unsafe reserve(value.count, at: index)
        unsafe value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe place.copyMemory(from: start, byteCount: bytes.count)
        }
    }

    /// Adds bytes to a buffer, which the caller must write.
    private func reserve(_ byteCount: Int, at index: Int) -> UnsafeMutableRawPointer {
        let end = unsafe columns[index].byteCount + byteCount
        if unsafe end > columns[index].capacity { grow(index, toHold: end) }
        defer { unsafe columns[index].byteCount = end }
        return unsafe columns[index].start + columns[index].byteCount
    }

    @inline(never)
    private func grow(_ index: Int, toHold byteCount: Int) {
        let old = unsafe columns[index]
        let capacity = max(byteCount, old.capacity * 2)
        let start = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        unsafe start.copyMemory(from: old.start, byteCount: old.byteCount)
        unsafe old.start.deallocate()
        unsafe columns[index].start = start
        unsafe columns[index].capacity = capacity
    }

    private func check(_ index: Int) { precondition(index >= 0 && index < count, "there is no parameter \(index)") }
}
