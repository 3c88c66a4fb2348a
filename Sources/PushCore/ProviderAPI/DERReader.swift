// SPDX-License-Identifier: Apache-2.0

/// A position in DER, with the operations that advance it.
///
/// The reader accepts only the elements of certificate extensions: one-byte tags, and lengths below 65,536 in their
/// shortest form. The bytes are a parameter and not a property, because a span can only be a parameter here.
///
/// - SeeAlso: ITU-T X.690, sections 8 and 10.1
struct DERReader {
    /// The identifier bytes of the supported elements.
    enum Tag {
        static let null: UInt8 = 0x05
        static let utf8String: UInt8 = 0x0C
        static let sequence: UInt8 = 0x30
    }

    /// The error for bytes that are not the expected DER.
    struct Malformed: Error, Equatable {}

    /// The offset of the next byte.
    private(set) var offset: Int
    /// The offset after the last byte.
    let end: Int

    /// Creates a reader of all bytes.
    init(_ bytes: Span<UInt8>) { (offset, end) = (0, bytes.count) }

    /// Creates a reader for the content of an element that another reader returned.
    private init(_ content: Range<Int>) { (offset, end) = (content.lowerBound, content.upperBound) }

    /// Whether no bytes are left.
    var isAtEnd: Bool { offset == end }

    /// Skips an element with a given tag.
    ///
    /// - Parameters:
    ///   - tag: The expected tag.
    ///   - bytes: The bytes, which must be the same in each call.
    /// - Returns: The range of the element's content.
    /// - Throws: `Malformed`, when the tag differs or the element is truncated.
    mutating func content(of tag: UInt8, _ bytes: Span<UInt8>) throws(Malformed) -> Range<Int> {
        guard try next(bytes) == tag else { throw Malformed() }
        let byteCount = try length(bytes)
        guard byteCount <= end - offset else { throw Malformed() }
        defer { offset += byteCount }
        return offset..<offset + byteCount
    }

    /// Skips a constructed element with a given tag, and returns a reader for its elements.
    mutating func elements(of tag: UInt8, _ bytes: Span<UInt8>) throws(Malformed) -> DERReader {
        DERReader(try content(of: tag, bytes))
    }

    /// Skips a UTF8String and returns its text.
    mutating func text(_ bytes: Span<UInt8>) throws(Malformed) -> String {
        guard let text = bytes.extracting(try content(of: Tag.utf8String, bytes)).text else { throw Malformed() }
        return text
    }

    private mutating func next(_ bytes: Span<UInt8>) throws(Malformed) -> UInt8 {
        guard !isAtEnd else { throw Malformed() }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads a length in short form (below 128), or in long form with one or two length bytes.
    private mutating func length(_ bytes: Span<UInt8>) throws(Malformed) -> Int {
        let first = try next(bytes)
        switch first {
        case 0..<0x80: return Int(first)
        case 0x81:
            let length = Int(try next(bytes))
            guard length >= 0x80 else { throw Malformed() }
            return length
        case 0x82:
            let length = Int(try next(bytes)) << 8 | Int(try next(bytes))
            guard length >= 0x100 else { throw Malformed() }
            return length
        default: throw Malformed()
        }
    }
}
