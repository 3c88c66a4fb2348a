// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushCore
import TestSupport
import Testing

struct Base64Tests {
    /// The examples of RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the specification's examples are encoded and decoded`(text: String, encoded: String) {
        #expect(Base64.encode(bytes(text)) == bytes(encoded))
        #expect(Base64.decode(bytes(encoded)) == bytes(text))
        let unpadded = bytes(encoded.replacing("=", with: ""))
        #expect(Base64.encodeURL(bytes(text)) == unpadded)
        #expect(Base64.decode(unpadded) == bytes(text))
    }

    @Test(arguments: ["+/+/", "-_-_", "+_-/"])
    func `digits of both alphabets are read`(text: String) {
        #expect(Base64.decode(bytes(text)) == [0xFB, 0xFF, 0xBF])
    }

    @Test(arguments: [
        "A", "AAAAA", "QUI==", "QUJD=", "QUJD==", "QUJD====", "Q===", "=", "==", "===", "====", "Q=Q=", "=QQQ", "QQ=",
        "QQ===", "Zm9vYmE==", "QQ==QQ==", "QQ==\n", " QQ", "QQ ", "Q Q", "QQ\n", "QQ\0", "Q!", "Qé", "QQ,,", "Q:", "Q@",
        "Q[", "Q`", "Q{",
    ])
    func `a wrong length, padding or character is refused`(text: String) {
        #expect(Base64.decode(bytes(text)) == nil)
    }

    @Test(arguments: ["QR", "QR==", "QUJ", "QUJ=", "Zh", "Zm-", "Zm-=", "//", "___"])
    func `unused trailing bits must be zero`(text: String) {
        #expect(Base64.decode(bytes(text)) == nil)
    }

    @Test(arguments: seeds)
    func `encoded bytes are decoded again, in both alphabets`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let original = generator.bytes(countMax: 100)
        let standard = Base64.encode(original)
        #expect(standard == bytes(Data(original).base64EncodedString()))
        #expect(Base64.decode(standard) == original)
        #expect(Base64.decode(Base64.encodeURL(original)) == original)
    }

    @Test(arguments: seeds)
    func `a decoded text is the only encoding of its bytes`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = bytes("ABCDwxyz0189-_=")
        let text = (0..<Int.random(in: 0...6, using: &generator)).compactMap { _ in
            alphabet.randomElement(using: &generator)
        }
        guard let decoded = Base64.decode(text) else { return }
        let digits = text.filter { $0 != UInt8(ascii: "=") }
        #expect(Base64.encodeURL(decoded) == digits)
    }
}
