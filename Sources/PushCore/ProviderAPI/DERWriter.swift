// SPDX-License-Identifier: Apache-2.0

/// Writes the few elements of DER that extensions of certificates are made of.
enum DERWriter {
    /// Null.
    static let null: [UInt8] = [DERReader.Tag.null, 0]

    /// A sequence of elements that are written already.
    static func sequence(_ elements: [[UInt8]]) -> [UInt8] {
        element(DERReader.Tag.sequence, Array(elements.joined()))
    }

    /// A UTF8String.
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
