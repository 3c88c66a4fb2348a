// SPDX-License-Identifier: Apache-2.0

/// The part of RFC 7541 that the tests need, independent of nghttp2: encodes literals and decodes server responses.
package struct HPACK {
    /// The static table's entries that a response may refer to.
    private static let fixed: [Int: (String, String)] = [
        8: (":status", "200"), 9: (":status", "204"), 10: (":status", "206"), 11: (":status", "304"),
        12: (":status", "400"), 13: (":status", "404"), 14: (":status", "500"), 28: ("content-length", ""),
        31: ("content-type", ""), 53: ("retry-after", ""),
    ]
    /// The characters of each code length.
    ///
    /// The codes of one length are consecutive (RFC 7541, appendix B).
    private static let codes: [(bitCount: Int, first: Int, characters: [UInt8])] = [
        (5, 0, Array("012aceiost".utf8)), (6, 0x14, Array(" %-./3456789=A_bdfghlmnpru".utf8)),
        (7, 0x5C, Array(":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz".utf8)), (8, 0xF8, Array("&*,;XZ".utf8)),
        (10, 0x3F8, Array("!\"()?".utf8)), (11, 0x7FA, Array("'+|".utf8)), (12, 0xFFA, Array("#>".utf8)),
        (13, 0x1FF8, Array("\0$@[]~".utf8)), (14, 0x3FFC, Array("^}".utf8)), (15, 0x7FFC, Array("<`{".utf8)),
    ]

    private var dynamic: [(String, String)] = []

    /// Creates the decoder of a new connection.
    package init() {}

    /// Encodes a literal without indexing and without Huffman coding.
    package static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0] + string(name) + string(value)
    }

    package static func string(_ text: String) -> [UInt8] {
        integer(text.utf8.count, prefixBitCount: 7) + Array(text.utf8)
    }

    package static func integer(_ number: Int, prefixBitCount: Int, pattern: UInt8 = 0) -> [UInt8] {
        let limit = 1 << prefixBitCount - 1
        if number < limit { return [pattern | UInt8(number)] }
        var (bytes, rest) = ([pattern | UInt8(limit)], number - limit)
        while rest >= 128 {
            bytes.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// Decodes the fields of a header block, or returns nil if it contains a representation that no test expects.
    package mutating func read(_ block: [UInt8]) -> [String: String]? {
        var (index, fields) = (0, [String: String]())
        while index < block.count {
            guard let (name, value) = readField(block, &index) else { return nil }
            fields[name] = value
        }
        return fields
    }

    private mutating func readField(_ block: [UInt8], _ index: inout Int) -> (String, String)? {
        let first = block[index]
        if first & 0x80 != 0 { return entry(Self.readInteger(block, &index, 7)) }
        let isIndexed = first & 0xC0 == 0x40
        let nameIndex = Self.readInteger(block, &index, isIndexed ? 6 : 4)
        guard let name = nameIndex == 0 ? Self.readString(block, &index) : entry(nameIndex)?.0,
            let value = Self.readString(block, &index)
        else { return nil }
        if isIndexed { dynamic.insert((name, value), at: 0) }
        return (name, value)
    }

    private func entry(_ index: Int) -> (String, String)? {
        if index <= 61 { return Self.fixed[index] }
        return dynamic.indices.contains(index - 62) ? dynamic[index - 62] : nil
    }

    private static func readInteger(_ block: [UInt8], _ index: inout Int, _ prefixBitCount: Int) -> Int {
        let limit = 1 << prefixBitCount - 1
        var number = Int(block[index]) & limit
        index += 1
        guard number == limit else { return number }
        var shift = 0
        while index < block.count {
            let byte = block[index]
            index += 1
            number += Int(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 { break }
        }
        return number
    }

    private static func readString(_ block: [UInt8], _ index: inout Int) -> String? {
        let isCoded = block[index] & 0x80 != 0
        let count = readInteger(block, &index, 7)
        guard index + count <= block.count else { return nil }
        let bytes = Array(block[index..<index + count])
        index += count
        guard isCoded else { return String(decoding: bytes, as: UTF8.self) }
        return decode(bytes)
    }

    private static func decode(_ bytes: [UInt8]) -> String? {
        var (text, code, bitCount) = ([UInt8](), 0, 0)
        for bit in bytes.flatMap({ byte in (0..<8).reversed().map { Int(byte >> UInt8($0) & 1) } }) {
            (code, bitCount) = (code << 1 | bit, bitCount + 1)
            guard let row = codes.first(where: { $0.bitCount == bitCount }) else { continue }
            guard code >= row.first, code - row.first < row.characters.count else { continue }
            text.append(row.characters[code - row.first])
            (code, bitCount) = (0, 0)
        }
        // The remaining bits are padding: fewer than eight ones.
        return bitCount < 8 && code == 1 << bitCount - 1 ? String(decoding: text, as: UTF8.self) : nil
    }
}
