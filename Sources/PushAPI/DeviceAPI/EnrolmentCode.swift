// SPDX-License-Identifier: Apache-2.0

/// An enrolment code for one device: a one-time secret, and the authority that the device must trust.
///
/// A code consists of digits of Crockford's base 32 in groups of four. `K7QM-2XHD-9FPT` is a secret alone, with 60
/// bits. When the server's certificate comes from its own authority, six more groups identify it. They hold the first
/// 120 bits of the SHA-256 of the authority's certificate. With them, a device can verify the authority without having
/// its file.
package struct EnrolmentCode: Sendable, Equatable {
    /// The digits: `0` to `9` and the letters without I, L, O and U, which are easily confused.
    package static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    /// The number of digits in the secret.
    package static let secretDigitCount = 12
    private static let authorityDigitCount = 24
    private static let groupDigitCount = 4
    private static let bitsPerDigit = 5

    /// The secret of twelve digits.
    package let secret: String
    /// The 24 digits that identify the authority; nil if the device should use the system's trust store.
    package let authority: String?

    /// Creates a code from a secret and the SHA-256 of the authority's certificate, 32 bytes.
    package init(secret: String, authorityFingerprint: [UInt8]?) {
        self.secret = secret
        authority = authorityFingerprint.map(Self.authority)
    }

    /// Parses a code as the user typed it; returns nil if it is not a complete code.
    ///
    /// The parser ignores case, dashes and spaces, and accepts look-alike characters.
    package init?(typed: String) {
        let digits = Self.digits(typed)
        guard digits.allSatisfy(Self.alphabet.contains) else { return nil }
        switch digits.count {
        case Self.secretDigitCount: authority = nil
        case Self.secretDigitCount + Self.authorityDigitCount:
            authority = String(decoding: digits[Self.secretDigitCount...], as: UTF8.self)
        default: return nil
        }
        secret = String(decoding: digits[..<Self.secretDigitCount], as: UTF8.self)
    }

    /// The code for display, in groups.
    package var text: String { Self.groups(secret + (authority ?? "")) }

    /// Returns the digits that identify an authority, in groups.
    package static func authorityText(fingerprint: [UInt8]) -> String { groups(authority(fingerprint: fingerprint)) }

    /// Returns the digits of an authority as the user typed them, alone or at the end of a complete code.
    ///
    /// - Parameter typed: The text; case, dashes, spaces and look-alike characters do not matter.
    /// - Returns: The 24 digits; nil if the text is neither.
    package static func authority(typed: String) -> String? {
        let digits = digits(typed)
        guard digits.allSatisfy(alphabet.contains),
            [authorityDigitCount, secretDigitCount + authorityDigitCount].contains(digits.count)
        else { return nil }
        return String(decoding: digits.suffix(authorityDigitCount), as: UTF8.self)
    }

    private static func groups(_ text: String) -> String {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: groupDigitCount)
            .map { String(decoding: digits[$0..<min($0 + groupDigitCount, digits.count)], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// Returns the digits without separators; look-alike letters become the digits they resemble.
    package static func digits(_ typed: String) -> [UInt8] {
        typed.uppercased().utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): nil
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            default: byte
            }
        }
    }

    /// Returns the digits that identify the authority with this fingerprint, a SHA-256 of 32 bytes.
    package static func authority(fingerprint: [UInt8]) -> String {
        var digits: [UInt8] = []
        var (bits, bitCount): (UInt, Int) = (0, 0)
        for byte in fingerprint.prefix(authorityDigitCount * bitsPerDigit / 8) {
            bits = bits << 8 | UInt(byte)
            bitCount += 8
            while bitCount >= bitsPerDigit {
                bitCount -= bitsPerDigit
                digits.append(alphabet[Int(bits >> bitCount & 31)])
            }
            bits &= (1 << bitCount) - 1
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
