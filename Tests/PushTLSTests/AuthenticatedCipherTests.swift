// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushTLS

struct AuthenticatedCipherTests {
    private static func decode(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    /// A published example: test cases 14 and 16 of McGrew and Viega.
    struct Example: Sendable {
        var key: String
        var nonce: String
        var text: String
        var data: String
        var sealed: String
        var tag: String
    }

    @Test(arguments: [
        Example(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            text: String(repeating: "00", count: 16), data: "", sealed: "cea7403d4d606b6e074ec5d3baf39d18",
            tag: "d0d1c8a799996bf0265b98b5d48ab919"),
        Example(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
            text: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            data: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
    ])
    func `published examples are opened`(example: Example) throws {
        let cipher = try AuthenticatedCipher(key: Self.decode(example.key))
        let sealed = Self.decode(example.nonce + example.sealed + example.tag)
        #expect(cipher.open(sealed, additionalData: Self.decode(example.data)) == Self.decode(example.text))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096])
    func `a sealed text is opened only unchanged, with the same key and data`(byteCount: Int) throws {
        let key = SecureRandom.bytes(count: 32)
        let cipher = try AuthenticatedCipher(key: key)
        let text = SecureRandom.bytes(count: byteCount)
        let sealed = try cipher.seal(text, additionalData: [1])
        #expect(sealed.count == byteCount + 28)
        #expect(cipher.open(sealed, additionalData: [1]) == text)
        #expect(cipher.open(sealed, additionalData: [2]) == nil)
        #expect(cipher.open(sealed, additionalData: []) == nil)
        for place in stride(from: 0, to: sealed.count, by: byteCount > 100 ? 97 : 1) {
            var changed = sealed
            changed[place] ^= 1
            #expect(cipher.open(changed, additionalData: [1]) == nil, "byte \(place)")
            #expect(cipher.open(Array(sealed[..<place]), additionalData: [1]) == nil, "\(place) bytes")
        }
        #expect(cipher.open(sealed + [0], additionalData: [1]) == nil)
        var other = key
        other[31] ^= 0x80
        #expect(try AuthenticatedCipher(key: other).open(sealed, additionalData: [1]) == nil)
    }

    @Test func `the same text is never sealed to the same bytes`() throws {
        let cipher = try AuthenticatedCipher(key: SecureRandom.bytes(count: 32))
        let sealed = try (0..<100).map { _ in try cipher.seal([1, 2, 3], additionalData: []) }
        #expect(Set(sealed.map { Array($0.prefix(12)) }).count == 100)
    }

    @Test(arguments: [0, 31, 33])
    func `a key of another length is refused`(byteCount: Int) {
        #expect(throws: TLSError.self) { try AuthenticatedCipher(key: [UInt8](repeating: 1, count: byteCount)) }
    }
}
