// SPDX-License-Identifier: Apache-2.0

/// What stands above a request's body.
struct RequestHead {
    var method = Method.other
    /// In `fields.bytes`.
    var path: Range<Int> = 0..<0
    /// Without pseudo-fields.
    var fields = FieldTable()
    /// The fields broke a limit, so that no more are kept.
    private(set) var isTooLarge = false

    /// Names, values and 32 bytes for each field, as SETTINGS_MAX_HEADER_LIST_SIZE counts them.
    private var byteCount = 0
    /// Pseudo-fields included.
    private var fieldCount = 0

    init() {}

    /// Takes a field that `MessageRules` has checked.
    ///
    /// - Parameters:
    ///   - name: In lower case; pseudo-fields begin with a colon.
    ///   - value: Copied.
    ///   - isTrailer: The field stands behind the body: counted, not kept.
    ///   - limits: What may be kept.
    /// - Returns: Whether to go on; false when the fields are so many that even reading them must end.
    mutating func append(name: Span<UInt8>, value: Span<UInt8>, isTrailer: Bool, limits: HTTPSessionLimits) -> Bool {
        // Neither overflows: nghttp2 takes no string over 64 KiB, nor more fields than fit in five frames.
        byteCount += name.count + value.count + 32
        fieldCount += 1
        if byteCount > limits.headerListByteCountMax || fieldCount > limits.headerFieldCountMax {
            isTooLarge = true
            return byteCount / HTTPBounds.headerListResetFactor <= limits.headerListByteCountMax
        }
        if isTrailer { return true }
        guard name.count > 0, name[0] == UInt8(ascii: ":") else {
            fields.append(name: name, value: value)
            return true
        }
        if name.equals(":method") {
            method = Method(value)
        } else if name.equals(":path") {
            path = fields.appendBytes(value)
        }
        return true
    }

    /// Makes room for another request and keeps the memory.
    mutating func removeAll() {
        (method, path, isTooLarge, byteCount, fieldCount) = (.other, 0..<0, false, 0, 0)
        fields.removeAll()
    }
}
