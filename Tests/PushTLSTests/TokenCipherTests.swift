// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct TokenCipherTests {
    private static func key(_ seed: UInt8) -> [UInt8] { (0..<64).map { seed &+ $0 } }

    private static func block(_ bytes: [UInt8]) -> InlineArray<16, UInt8> { InlineArray { bytes[$0] } }

    private static func array(_ block: InlineArray<16, UInt8>) -> [UInt8] { block.indices.map { block[$0] } }

    private static func array(_ token: InlineArray<32, UInt8>) -> [UInt8] { token.indices.map { token[$0] } }

    @Test func `a token matches RFC 5297's combination of CMAC and counter mode`() throws {
        // The expected value is from `openssl mac` (CMAC, the key's first half) and `openssl enc -aes-256-ctr` (the
        // second half).
        let expected = "bb5580a9cb13e704345a62995af66e965722ff66e98b75d3bbf34ee141689fe0"
        let cipher = try TokenCipher(keys: [Self.key(0)])
        let token = cipher.seal(Self.block((0xA0..<0xB0).map { $0 }))
        #expect(hexadecimal(Self.array(token)) == expected)
    }

    @Test func `a cipher that was used a thousand times agrees with freshly keyed ones`() throws {
        let key = SecureRandom.bytes(count: 64)
        let used = try TokenCipher(keys: [key])
        for number in 0..<1_000 {
            let plaintext = SecureRandom.bytes(count: 16)
            let token = used.seal(Self.block(plaintext))
            let fresh = try TokenCipher(keys: [key])
            let freshToken = Self.array(fresh.seal(Self.block(plaintext)))
            #expect(Self.array(token) == freshToken, "number \(number), key \(key), plaintext \(plaintext)")
            #expect(fresh.open(token).map(Self.array) == plaintext, "number \(number), key \(key)")
            #expect(used.open(token).map(Self.array) == plaintext, "number \(number), key \(key)")
        }
    }

    @Test func `every flipped bit is refused, and the original token still opens after each`() throws {
        let cipher = try TokenCipher(keys: [Self.key(1), Self.key(2)])
        let plaintext: [UInt8] = Array(0..<16)
        let token = cipher.seal(Self.block(plaintext))
        for bit in 0..<256 {
            var forged = token
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(cipher.open(forged).map(Self.array) == nil, "bit \(bit)")
            #expect(cipher.open(token).map(Self.array) == plaintext, "after bit \(bit)")
        }
    }

    @Test func `tokens of older keys open, and new tokens use the first key`() throws {
        let plaintext = Self.block(Array(100..<116))
        let keys = [Self.key(1), Self.key(2), Self.key(3)]
        let all = try TokenCipher(keys: keys)
        for key in keys {
            let single = try TokenCipher(keys: [key])
            #expect(all.open(single.seal(plaintext)).map(Self.array) == Array(100..<116))
            #expect((Self.array(all.seal(plaintext)) == Self.array(single.seal(plaintext))) == (key == keys[0]))
        }
        let stranger = try TokenCipher(keys: [Self.key(4)])
        #expect(all.open(stranger.seal(plaintext)).map(Self.array) == nil)
    }

    @Test func `sealing and opening do not disturb each other`() throws {
        let cipher = try TokenCipher(keys: [Self.key(9)])
        let tokens = (0..<50).map { number in cipher.seal(Self.block(Array(repeating: UInt8(number), count: 16))) }
        for (number, token) in tokens.enumerated() {
            let plaintext = [UInt8](repeating: UInt8(number), count: 16)
            #expect(Self.array(cipher.seal(Self.block(plaintext))) == Self.array(token))
            #expect(cipher.open(token).map(Self.array) == plaintext)
        }
        #expect(Set(tokens.map { Self.array($0) }).count == 50)
    }

    @Test(arguments: [0, 1, 32, 63, 65])
    func `a key that is not 64 bytes long is refused, also as an older one`(byteCount: Int) {
        let key = [UInt8](repeating: 1, count: byteCount)
        let error = TLSError.library(
            during: "initializing the token cipher", text: "a key has \(byteCount) bytes instead of 64")
        #expect(throws: error) { _ = try TokenCipher(keys: [key]) }
        #expect(throws: error) { _ = try TokenCipher(keys: [Self.key(0), key]) }
    }

    @Test func `an empty list of keys is refused`() {
        #expect(throws: TLSError.library(during: "initializing the token cipher", text: "there is no key")) {
            _ = try TokenCipher(keys: [])
        }
    }
}

/// Returns the bytes as lower-case hexadecimal digits.
func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }.joined()
}
