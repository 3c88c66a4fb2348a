// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Passes one value with everything in it; the value begins at the place.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - outerDepth: In how many containers the value stands already; they count towards the limit.
    /// - Throws: `JSONError`, at the first byte that is wrong.
    mutating func skipValue(_ bytes: Span<UInt8>, outerDepth: Int = 0) throws(JSONError) {
        var nesting = JSONNesting(outerDepth: outerDepth)
        while true {
            let isComplete = try skipBeginning(bytes, &nesting)
            guard isComplete else { continue }
            let isWhole = try skipEnds(bytes, &nesting)
            if isWhole { return }
        }
    }

    /// Passes a string, number, word or empty container, which is then complete, or the beginning of a container up
    /// to its first value.
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

    /// Passes an opening bracket, and the closing one when there is nothing between; answers whether a value follows.
    @inline(__always)
    private mutating func enter(
        _ container: JSONNesting.Container, _ bytes: Span<UInt8>, _ nesting: inout JSONNesting
    ) throws(JSONError) -> Bool {
        guard nesting.enter(container) else { throw failure(.nestsTooDeep, bytes) }
        advance()
        skipBlanks(bytes)
        if peek(bytes) == container.closingBracket {
            advance()
            nesting.leave()
            return false
        }
        if container == .object { try skipName(bytes) }
        return true
    }

    /// Passes what stands behind a complete value, up to the next value; answers whether the outermost is complete.
    @inline(__always)
    private mutating func skipEnds(_ bytes: Span<UInt8>, _ nesting: inout JSONNesting) throws(JSONError) -> Bool {
        while let container = nesting.innermost {
            skipBlanks(bytes)
            let byte = peek(bytes)
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

/// Which containers a place is in: one bit for each, the innermost lowest.
struct JSONNesting {
    /// An array or an object.
    enum Container {
        case array, object

        /// The byte that ends it.
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

    /// Begins outside of all containers, or inside of so many that count towards the limit.
    init(outerDepth: Int = 0) { depthMax = min(Limits.jsonDepthMax, UInt64.bitWidth) - outerDepth }

    /// The container that ends first; nil outside of all.
    @inline(__always)
    var innermost: Container? {
        guard depth > 0 else { return nil }
        return objectBits & 1 == 1 ? .object : .array
    }

    /// Goes one deeper; false when that is deeper than the limit, which is the number of bits.
    @inline(__always)
    mutating func enter(_ container: Container) -> Bool {
        guard depth < depthMax else { return false }
        depth += 1
        objectBits = objectBits << 1 | (container == .object ? 1 : 0)
        return true
    }

    /// Goes back out of the innermost container.
    @inline(__always)
    mutating func leave() {
        depth -= 1
        objectBits >>= 1
    }
}
