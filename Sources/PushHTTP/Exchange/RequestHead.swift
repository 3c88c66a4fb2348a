// SPDX-License-Identifier: Apache-2.0

/// What stands above a request's body.
package struct RequestHead {
    /// The request's method.
    package internal(set) var method = Method.other
    /// `:path` with its query, in `fields.bytes`; on HTTP/2 it may hold any byte but NUL, CR and LF.
    package internal(set) var path: Range<Int> = 0..<0
    /// Without pseudo-fields.
    package internal(set) var fields = FieldTable()
    /// The fields broke a limit, so that no more are kept.
    private(set) var isTooLarge = false
    /// HTTP/2 only: HTTP/1.1 is strict while it parses.
    var rules = MessageRules()

    /// Names, values and 32 bytes for each field, as SETTINGS_MAX_HEADER_LIST_SIZE counts them.
    private var byteCount = 0
    /// Pseudo-fields included.
    private var fieldCount = 0

    init() {}

    /// What became of a field.
    enum Verdict {
        /// It was kept, or there are too many to keep them.
        case fine
        /// It breaks the rules of HTTP.
        case malformed
        /// There are so many that even reading them must end.
        case endless
    }

    /// Takes a field of HTTP/2.
    ///
    /// - Parameters:
    ///   - name: As it came; pseudo-fields begin with a colon.
    ///   - value: Copied.
    ///   - isTrailer: The field stands behind the body: counted, not kept.
    ///   - limits: What may be kept.
    /// - Returns: Whether to go on with the stream.
    mutating func append(
        name: Span<UInt8>, value: Span<UInt8>, isTrailer: Bool, limits: HTTPSessionLimits
    ) -> Verdict {
        // Neither overflows: nghttp2 takes no string over 64 KiB, nor more fields than fit in five frames.
        byteCount += name.count + value.count + 32
        // Blanks around a value stay: the reader of the field refuses the request by name (decision 24).
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

    /// Uses the memory of another head's fields.
    mutating func adopt(_ fields: consuming FieldTable) { self.fields = fields }

    /// Gives the memory of the fields away, emptied.
    mutating func surrender() -> FieldTable {
        var other = FieldTable()
        swap(&other, &fields)
        other.removeAll()
        path = 0..<0
        return other
    }

    /// Makes room for another request and keeps the memory.
    mutating func removeAll() {
        (method, path, isTooLarge, byteCount, fieldCount) = (.other, 0..<0, false, 0, 0)
        rules = MessageRules()
        fields.removeAll()
    }
}
