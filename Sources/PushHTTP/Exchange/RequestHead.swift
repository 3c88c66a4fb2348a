// SPDX-License-Identifier: Apache-2.0

/// The part of a request before its body.
package struct RequestHead {
    /// The request's method.
    package internal(set) var method = Method.other
    /// The position of `:path` with its query in `fields.bytes`; on HTTP/2 it may hold any byte except NUL, CR and LF.
    package internal(set) var path: Range<Int> = 0..<0
    /// The fields without pseudo-fields.
    package internal(set) var fields = FieldTable()
    /// Whether the fields exceeded a limit, so that no more are kept.
    private(set) var isTooLarge = false
    /// The message rules, for HTTP/2 only: the HTTP/1.1 parser is strict itself.
    var rules = MessageRules()

    /// The size of names and values plus 32 bytes for each field, as SETTINGS_MAX_HEADER_LIST_SIZE defines it.
    private var byteCount = 0
    /// The number of fields, pseudo-fields included.
    private var fieldCount = 0

    init() {}

    /// The result of adding a field.
    enum Verdict {
        /// The field was kept, or was dropped because the limits are exceeded.
        case fine
        /// The field violates the rules of HTTP.
        case malformed
        /// The fields are so large that even reading them must end.
        case endless
    }

    /// Adds a field of an HTTP/2 request.
    ///
    /// - Parameters:
    ///   - name: The name as received; pseudo-fields begin with a colon.
    ///   - value: The value, which is copied.
    ///   - isTrailer: Whether the field follows the body; such a field is counted, but not kept.
    ///   - limits: The limits on kept fields.
    /// - Returns: Whether the stream may continue.
    mutating func append(
        name: Span<UInt8>, value: Span<UInt8>, isTrailer: Bool, limits: HTTPSessionLimits
    ) -> Verdict {
        // Neither sum overflows: nghttp2 accepts no string over 64 KiB, and no more fields than fit in five frames.
        byteCount += name.count + value.count + 32
        // Spaces around a value stay: the reader of the field rejects the request with a specific reason (decision 24).
        guard rules.takeField(name: name, value: value) else { return .malformed }
        fieldCount += 1
        if byteCount > limits.headerListByteCountMax || fieldCount > limits.headerFieldCountMax {
            isTooLarge = true
            return byteCount / HTTPBounds.headerListResetFactor <= limits.headerListByteCountMax ? .fine : .endless
        }
        if !isTrailer { keep(name: name, value: value) }
        return .fine
    }

    private mutating func keep(name: Span<UInt8>, value: Span<UInt8>) {
        guard name.count > 0, name[0] == UInt8(ascii: ":") else { return fields.append(name: name, value: value) }
        if name.equals(":method") {
            method = Method(value)
        } else if name.equals(":path") {
            path = fields.appendBytes(value)
        }
    }

    /// Takes over the memory of another head's fields.
    mutating func adopt(_ fields: consuming FieldTable) { self.fields = fields }

    /// Moves the memory of the fields out, emptied.
    mutating func surrender() -> FieldTable {
        var other = FieldTable()
        swap(&other, &fields)
        other.removeAll()
        path = 0..<0
        return other
    }

    /// Resets the head for another request and keeps the memory.
    mutating func removeAll() {
        (method, path, isTooLarge, byteCount, fieldCount) = (.other, 0..<0, false, 0, 0)
        rules = MessageRules()
        fields.removeAll()
    }
}
