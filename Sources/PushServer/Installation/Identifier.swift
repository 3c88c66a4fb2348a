// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushTLS

/// Team IDs and key IDs: ten characters of A-Z and 0-9, like Apple's.
enum Identifier {
    static let characterCount = 10

    /// Returns a random identifier.
    static func make() -> String { random(characterCount, from: Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)) }

    /// Returns a random send token of 149 bits.
    ///
    /// The token has the form of ntfy's tokens. Programs for ntfy distinguish it from a password by that form.
    static func makeSendToken() -> String {
        "tk_" + random(29, from: Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8))
    }

    static func isValid(_ text: String) -> Bool {
        text.utf8.count == characterCount
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    /// Returns random characters without bias, discarding bytes that would favor the beginning of the alphabet.
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

extension EnrolmentCode {
    /// Returns a random secret of 60 bits, the part of a code without the authority.
    static func makeSecret() -> String { Identifier.random(secretDigitCount, from: alphabet) }

    /// Returns the SHA-256 of the secret in a code, regardless of how the user typed it.
    static func hash(_ typed: String) -> [UInt8] {
        let meant = Self(typed: typed).map { Array($0.secret.utf8) } ?? digits(typed)
        return SHA256.hash(meant.span)
    }
}
