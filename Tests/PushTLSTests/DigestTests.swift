// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import Testing

@Suite struct DigestTests {
    /// The first two vectors are from FIPS 180-2, appendix B.
    ///
    /// The third is from `openssl dgst -sha256` over 1,000 letters.
    @Test(arguments: [
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 1_000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ])
    func `a SHA-256 matches its published value`(text: String, repetitionCount: Int, expected: String) {
        let bytes = Array(String(repeating: text, count: repetitionCount).utf8)
        let hash = SHA256.hash(bytes.span)
        #expect(hexadecimal(hash) == expected)
    }

    /// The vectors are from FIPS 180-2, appendix A, and RFC 6455, section 1.3.
    @Test(arguments: [
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
            "b37a4f2cc0624f1690f64606cf385945b2bec4ea"
        ),
    ])
    func `a SHA-1 matches its published value`(text: String, expected: String) {
        let bytes = Array(text.utf8)
        #expect(hexadecimal(SHA1.hash(bytes.span)) == expected)
    }

    @Test(arguments: [0, 1, 16, 1_000])
    func `random bytes have the requested length`(count: Int) {
        #expect(SecureRandom.bytes(count: count).count == count)
    }

    @Test func `random numbers do not repeat and use all bits`() {
        #expect(Set((0..<1_000).map { _ in SecureRandom.bytes(count: 16) }).count == 1_000)
        let numbers = (0..<1_000).map { _ in SecureRandom.uint64() }
        #expect(Set(numbers).count == 1_000)
        // The probability that one bit is the same in 1,000 random numbers is 2^-999.
        #expect(numbers.reduce(0, |) == .max)
        #expect(numbers.reduce(.max, &) == 0)
    }

    @Test func `the library's version is an OpenSSL 3 in number and text`() {
        let version = LibraryVersion.openSSL
        #expect(version.number >> 28 == 3)
        let parts = [version.number >> 28, version.number >> 20 & 0xFF, version.number >> 4 & 0xFFFF]
        #expect(version.text.hasPrefix("OpenSSL \(parts.map(String.init).joined(separator: ".")) "))
    }
}
