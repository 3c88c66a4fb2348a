// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Skips one value with all its contents; the value begins at the current offset.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - outerDepth: The number of containers around the value; they count toward the depth limit.
    /// - Throws: `JSONError`, at the first invalid byte.
    package mutating func skipValue(_ bytes: Span<UInt8>, outerDepth: Int = 0) throws(JSONError) {
        var nesting = JSONNesting(outerDepth: outerDepth)
        while true {
            let isComplete = try skipBeginning(bytes, &nesting)
            guard isComplete else { continue }
            let isWhole = try skipEnds(bytes, &nesting)
            if isWhole { return }
        }
    }

    /// Skips a scalar value or an empty container, or the start of a container up to its first value.
    ///
    /// The result is true when the skipped value is complete.
    @inline(__always)
    private mutating func skipBeginning(
        _ bytes: Span<UInt8>, _ nesting: inout JSONNesting
    ) throws(JSONError) -> Bool {
        guard let first = peek(bytes) else { throw failure(.endsEarly, bytes) }
        switch first {
        case UInt8(ascii: "\""):
            try skipString(bytes)
        case UInt8(ascii: "{"):
            return try !enter(.object, bytes, &nesting)
        case UInt8(ascii: "["):
            return try !enter(.array, bytes, &nesting)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try skipNumber(bytes)
        default:
            try skipWord(bytes)
        }
        return true
    }

    /// Skips an opening bracket, and the closing one of an empty container; returns whether a value follows.
    @inline(__always)
    private mutating func enter(
        _ container: JSONNesting.Container, _ bytes: Span<UInt8>, _ nesting: inout JSONNesting
    ) throws(JSONError) -> Bool {
        guard nesting.enter(container) else { throw failure(.nestsTooDeep, bytes) }
        advance()
        if peekBehindBlanks(bytes) == container.closingBracket {
            advance()
            nesting.leave()
            return false
        }
        if container == .object { try skipName(bytes) }
        return true
    }

    /// Skips separators and closing brackets after a complete value; returns whether the outermost value is complete.
    @inline(__always)
    private mutating func skipEnds(_ bytes: Span<UInt8>, _ nesting: inout JSONNesting) throws(JSONError) -> Bool {
        while let container = nesting.innermost {
            let byte = peekBehindBlanks(bytes)
            advance()
            if byte == UInt8(ascii: ",") {
                skipBlanks(bytes)
                if container == .object { try skipName(bytes) }
                return false
            }
            guard byte == container.closingBracket else {
                throw JSONScanner(offset: offset - 1).failure(.lacksComma, bytes)
            }
            nesting.leave()
        }
        return true
    }
}

/// The stack of containers around an offset, as one bit for each; the innermost is the lowest bit.
struct JSONNesting {
    /// The kind of container.
    enum Container {
        case array, object

        /// The byte that closes the container.
        @inline(__always)
        var closingBracket: UInt8 {
            switch self {
            case .array: UInt8(ascii: "]")
            case .object: UInt8(ascii: "}")
            }
        }
    }

    private var objectBits: UInt64 = 0
    private var depth = 0
    private let depthMax: Int

    /// Creates an empty stack; `outerDepth` containers around the value count toward the depth limit.
    init(outerDepth: Int = 0) { depthMax = min(Limits.jsonDepthMax, UInt64.bitWidth) - outerDepth }

    /// The innermost container; nil outside all containers.
    @inline(__always)
    var innermost: Container? {
        guard depth > 0 else { return nil }
        return objectBits & 1 == 1 ? .object : .array
    }

    /// Pushes a container; returns false at the depth limit, which cannot exceed the number of bits.
    @inline(__always)
    mutating func enter(_ container: Container) -> Bool {
        guard depth < depthMax else { return false }
        depth += 1
        objectBits = objectBits << 1 | (container == .object ? 1 : 0)
        return true
    }

    /// Pops the innermost container.
    @inline(__always)
    mutating func leave() {
        depth -= 1
        objectBits >>= 1
    }
}
