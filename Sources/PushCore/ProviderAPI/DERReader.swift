// SPDX-License-Identifier: Apache-2.0

/// A place in DER, and the steps from one element to the next.
///
/// It reads what extensions of certificates are made of and refuses everything else: tags of one byte, lengths in their
/// one shortest form and below 65,536. The bytes are a parameter and not a property, because only parameters may be
/// spans.
///
/// - SeeAlso: ITU-T X.690, sections 8 and 10.1
struct DERReader {
    /// The identifier bytes of the elements that are read here.
    enum Tag {
        static let null: UInt8 = 0x05
        static let utf8String: UInt8 = 0x0C
        static let sequence: UInt8 = 0x30
    }

    /// The bytes are not the DER that was expected.
    struct Malformed: Error, Equatable {}

    /// The next byte.
    private(set) var offset: Int
    /// Behind the last byte.
    let end: Int

    /// Reads all of the bytes.
    init(_ bytes: Span<UInt8>) { (offset, end) = (0, bytes.count) }

    /// Reads the content of an element, which one of these readers has given.
    private init(_ content: Range<Int>) { (offset, end) = (content.lowerBound, content.upperBound) }

    /// Whether nothing is left.
    var isAtEnd: Bool { offset == end }

    /// Passes an element of a tag.
    ///
    /// - Parameters:
    ///   - tag: The only one that may come.
    ///   - bytes: The same at each call.
    /// - Returns: Where its content is.
    /// - Throws: When something else comes, or it is not all there.
    mutating func content(of tag: UInt8, _ bytes: Span<UInt8>) throws(Malformed) -> Range<Int> {
        guard try next(bytes) == tag else { throw Malformed() }
        let byteCount = try length(bytes)
        guard byteCount <= end - offset else { throw Malformed() }
        defer { offset += byteCount }
        return offset..<offset + byteCount
    }

    /// Passes an element of a tag that is made of elements, and gives their reader.
    mutating func elements(of tag: UInt8, _ bytes: Span<UInt8>) throws(Malformed) -> DERReader {
        DERReader(try content(of: tag, bytes))
    }

    /// Passes a UTF8String.
    mutating func text(_ bytes: Span<UInt8>) throws(Malformed) -> String {
        guard let text = bytes.extracting(try content(of: Tag.utf8String, bytes)).text else { throw Malformed() }
        return text
    }

    private mutating func next(_ bytes: Span<UInt8>) throws(Malformed) -> UInt8 {
        guard !isAtEnd else { throw Malformed() }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// A length: itself below 128; else the number of bytes that it takes, with the high bit, and these.
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
