// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Parses a JSON text, as strictly as `JSONValidator`.
    ///
    /// - Parameter bytes: The text.
    /// - Throws: `JSONError`, at the first invalid byte.
    package init(parsing bytes: Span<UInt8>) throws(JSONError) {
        try JSONValidator.validate(bytes)
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        self = try JSONValue(bytes, &scanner)
    }

    /// Returns the ranges of an object's member values, so that callers can extract their bytes unchanged.
    ///
    /// Each member's value may nest as deep as a whole text.
    ///
    /// - Parameter bytes: A text whose outermost value is an object.
    /// - Returns: The name and range of each member, in order; names may repeat.
    /// - Throws: `JSONError`, at the first invalid byte.
    package static func memberRanges(in bytes: Span<UInt8>) throws(JSONError) -> [(key: String, range: Range<Int>)] {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, bytes) }
        var ranges: [(key: String, range: Range<Int>)] = []
        var isMore = scanner.enterContainer(bytes, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let key = try scanner.readName(bytes)
            let start = scanner.offset
            try scanner.skipValue(bytes)
            ranges.append((key, start..<scanner.offset))
            isMore = try scanner.skipSeparator(bytes, closingBracket: UInt8(ascii: "}"))
        }
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == nil else { throw scanner.failure(.hasMoreBehind, bytes) }
        return ranges
    }

    /// Returns the range of the last member with this name in an object; nil without such a member.
    ///
    /// - Parameters:
    ///   - key: The member's name.
    ///   - bytes: A text whose outermost value is an object.
    /// - Returns: The range of the value's bytes, without surrounding whitespace.
    /// - Throws: `JSONError`, at the first invalid byte.
    package static func rawRange(of key: String, in bytes: Span<UInt8>) throws(JSONError) -> Range<Int>? {
        try memberRanges(in: bytes).last { $0.key.utf8.elementsEqual(key.utf8) }?.range
    }

    /// Parses the value at the current offset; `JSONValidator` has limited the depth of this recursion.
    private init(_ bytes: Span<UInt8>, _ scanner: inout JSONScanner) throws(JSONError) {
        switch scanner.peek(bytes) {
        case UInt8(ascii: "\""):
            self = .string(try scanner.readString(bytes))
        case UInt8(ascii: "{"):
            self = .object(try Self.readMembers(bytes, &scanner))
        case UInt8(ascii: "["):
            self = .array(try Self.readElements(bytes, &scanner))
        case UInt8(ascii: "t"):
            try scanner.skipWord(bytes)
            self = .bool(true)
        case UInt8(ascii: "f"):
            try scanner.skipWord(bytes)
            self = .bool(false)
        case UInt8(ascii: "n"):
            try scanner.skipWord(bytes)
            self = .null
        default:
            self = try Self.readNumber(bytes, &scanner)
        }
    }

    private static func readMembers(
        _ bytes: Span<UInt8>, _ scanner: inout JSONScanner
    ) throws(JSONError) -> [Member] {
        var members: [Member] = []
        var isMore = scanner.enterContainer(bytes, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let key = try scanner.readName(bytes)
            members.append(Member(key: key, value: try JSONValue(bytes, &scanner)))
            isMore = try scanner.skipSeparator(bytes, closingBracket: UInt8(ascii: "}"))
        }
        return members
    }

    private static func readElements(
        _ bytes: Span<UInt8>, _ scanner: inout JSONScanner
    ) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        var isMore = scanner.enterContainer(bytes, closingBracket: UInt8(ascii: "]"))
        while isMore {
            elements.append(try JSONValue(bytes, &scanner))
            isMore = try scanner.skipSeparator(bytes, closingBracket: UInt8(ascii: "]"))
        }
        return elements
    }

    private static func readNumber(
        _ bytes: Span<UInt8>, _ scanner: inout JSONScanner
    ) throws(JSONError) -> JSONValue {
        let start = scanner.offset
        try scanner.skipNumber(bytes)
        // The text consists of digits, signs, a dot and an e, so it is UTF-8. Int64 accepts nothing that JSON rejects.
        let text = bytes.extracting(start..<scanner.offset).text ?? ""
        return Int64(text).map(JSONValue.integer) ?? .number(text)
    }
}

extension JSONScanner {
    /// Skips an opening bracket, and the closing one of an empty container; returns whether a value follows.
    package mutating func enterContainer(_ bytes: Span<UInt8>, closingBracket: UInt8) -> Bool {
        advance()
        skipBlanks(bytes)
        guard peek(bytes) == closingBracket else { return true }
        advance()
        return false
    }

    /// Skips a comma or the closing bracket after a value; returns whether another value follows.
    package mutating func skipSeparator(_ bytes: Span<UInt8>, closingBracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks(bytes)
        guard let byte = peek(bytes), byte == UInt8(ascii: ",") || byte == closingBracket else {
            throw failure(.lacksComma, bytes)
        }
        advance()
        guard byte == UInt8(ascii: ",") else { return false }
        skipBlanks(bytes)
        return true
    }

    /// Skips a name with its colon and the surrounding whitespace, and returns the name.
    fileprivate mutating func readName(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        var name = self
        try skipName(bytes)
        return try name.readString(bytes)
    }

    /// Skips a string and returns its contents with escapes resolved.
    package mutating func readString(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        var escapes = JSONScanner(offset: offset + 1)
        try skipString(bytes)
        let end = offset - 1
        var units: [UInt8] = []
        units.reserveCapacity(end - escapes.offset)
        while escapes.offset < end {
            guard bytes[escapes.offset] == UInt8(ascii: "\\") else {
                units.append(bytes[escapes.offset])
                escapes.advance()
                continue
            }
            units.append(contentsOf: try escapes.readEscapedScalar(bytes).utf8)
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// Skips an escape sequence or a surrogate pair of them, and returns the character.
    private mutating func readEscapedScalar(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        let unit = try readEscape(bytes)
        guard UTF16.isLeadSurrogate(unit) else { return String(decoding: CollectionOfOne(unit), as: UTF16.self) }
        let trail = try readEscape(bytes)
        return String(decoding: [unit, trail], as: UTF16.self)
    }
}
