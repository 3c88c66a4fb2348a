// SPDX-License-Identifier: Apache-2.0

/// What lets one device in, as people type it: a secret that is good once, and the authority that the device is to trust.
///
/// In the digits of Crockford's base 32, in groups of four: `K7QM-2XHD-9FPT` is the secret alone, 60 bits. Where the
/// server's certificate comes from its own authority, six groups more name that by the first 120 bits of the SHA-256 of
/// its certificate. With them a device can tell that authority from any other without having its file.
package struct EnrolmentCode: Sendable, Equatable {
    /// `0` to `9` and the letters without I, L, O and U, which are taken for others.
    package static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    /// Digits of the secret.
    package static let secretDigitCount = 12
    private static let authorityDigitCount = 24
    private static let groupDigitCount = 4
    private static let bitsPerDigit = 5

    /// Twelve digits.
    package let secret: String
    /// 24 digits that name the authority; nil where the device is to ask its system whom to trust.
    package let authority: String?

    /// Joins a secret with the authority that has this fingerprint, SHA-256 of 32 bytes.
    package init(secret: String, authorityFingerprint: [UInt8]?) {
        self.secret = secret
        authority = authorityFingerprint.map(Self.authority)
    }

    /// Reads what was typed: case, dashes, blanks and look-alikes do not matter; nil for what is no whole code.
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

    /// As people read it, in groups.
    package var text: String {
        let digits = Array((secret + (authority ?? "")).utf8)
        return stride(from: 0, to: digits.count, by: Self.groupDigitCount)
            .map { String(decoding: digits[$0..<min($0 + Self.groupDigitCount, digits.count)], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// The digits that were meant, without what separates them.
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

    /// The digits that name the authority with this fingerprint, SHA-256 of 32 bytes.
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
