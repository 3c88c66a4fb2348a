// SPDX-License-Identifier: Apache-2.0

/// Writes the DER elements that certificate extensions use.
enum DERWriter {
    /// The encoding of NULL.
    static let null: [UInt8] = [DERReader.Tag.null, 0]

    /// Returns a SEQUENCE of encoded elements.
    static func sequence(_ elements: [[UInt8]]) -> [UInt8] {
        element(DERReader.Tag.sequence, Array(elements.joined()))
    }

    /// Returns a UTF8String.
    static func text(_ text: String) -> [UInt8] { element(DERReader.Tag.utf8String, Array(text.utf8)) }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(truncatingIfNeeded: count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
        return [0x80 | UInt8(truncatingIfNeeded: bytes.count)] + bytes.reversed()
    }
}
