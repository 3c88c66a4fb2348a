// SPDX-License-Identifier: Apache-2.0

internal import PushTLS

/// Team ids and key ids: ten characters of A-Z and 0-9, as Apple's.
enum Identifier {
    static let characterCount = 10

    /// Makes a random one.
    static func make() -> String { random(characterCount, from: Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)) }

    static func isValid(_ text: String) -> Bool {
        text.utf8.count == characterCount
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    /// Draws characters without bias: a byte that would favour the alphabet's beginning is thrown away.
    static func random(_ count: Int, from alphabet: [UInt8]) -> String {
        precondition((1...256).contains(alphabet.count), "one byte chooses one character")
        let bound = 256 / alphabet.count * alphabet.count
        var text: [UInt8] = []
        while text.count < count {
            for byte in SecureRandom.bytes(count: count) where Int(byte) < bound && text.count < count {
                text.append(alphabet[Int(byte) % alphabet.count])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Enrolment codes: twelve characters that cannot be mistaken for each other, in three groups.
enum EnrolmentCode {
    /// Crockford's base 32: without I, L, O and U.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let characterCount = 12

    /// For example `K7QM-2XHD-9FPT`; 60 bits.
    static func make() -> String {
        let text = Array(Identifier.random(characterCount, from: alphabet))
        return stride(from: 0, to: text.count, by: 4).map { String(text[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// SHA-256 of the code as it was meant, however it was typed: case, dashes, and look-alikes do not matter.
    static func hash(_ typed: String) -> [UInt8] {
        let meant: [UInt8] = typed.uppercased().utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: " "): nil
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            default: byte
            }
        }
        return SHA256.hash(meant.span)
    }
}
