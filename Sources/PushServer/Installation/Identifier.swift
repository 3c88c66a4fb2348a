// SPDX-License-Identifier: Apache-2.0

internal import PushCore
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

extension EnrolmentCode {
    /// Makes a random secret of 60 bits, without an authority.
    static func makeSecret() -> String { Identifier.random(secretDigitCount, from: alphabet) }

    /// SHA-256 of the secret in a code, however it was typed.
    static func hash(_ typed: String) -> [UInt8] {
        let meant = Self(typed: typed).map { Array($0.secret.utf8) } ?? digits(typed)
        return SHA256.hash(meant.span)
    }
}
