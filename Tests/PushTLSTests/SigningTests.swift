// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushTLS
import TestSupport
import Testing

@Suite struct SigningTests {
    private let message = Array("header.claims".utf8)

    /// Returns the public key of a private key.
    private func verifyingKey(of key: PrivateKey) throws -> VerifyingKey {
        try VerifyingKey(der: key.publicKeyDER)
    }

    @Test(arguments: 0..<50)
    func `a signature verifies with its public key, and with no other key or message`(number: Int) throws {
        let key = try PrivateKey()
        let stranger = try verifyingKey(of: PrivateKey())
        let verifier = try verifyingKey(of: key)
        let signature = try key.sign(message.span)
        #expect(signature.count == 64)
        #expect(verifier.accepts(signature, over: message, digest: .sha256))
        #expect(!verifier.accepts(signature, over: message, digest: .sha512))
        #expect(!verifier.accepts(signature, over: Array(message.dropLast()), digest: .sha256))
        #expect(!verifier.accepts(signature, over: [], digest: .sha256))
        #expect(!stranger.accepts(signature, over: message, digest: .sha256))
    }

    @Test func `every flipped bit of a signature is refused`() throws {
        let key = try PrivateKey()
        let verifier = try verifyingKey(of: key)
        let signature = try key.sign(message.span)
        for bit in 0..<512 {
            var forged = signature
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(!verifier.accepts(forged, over: message, digest: .sha256), "bit \(bit)")
        }
        #expect(verifier.accepts(signature, over: message, digest: .sha256))
    }

    @Test func `malformed signatures are refused`() throws {
        let key = try PrivateKey()
        let verifier = try verifyingKey(of: key)
        let signature = try key.sign(message.span)
        let zeros = [UInt8](repeating: 0, count: 64)
        let wrong: [[UInt8]] = [
            [], [0], Array(signature.prefix(63)), signature + [0], zeros, [UInt8](repeating: 0xFF, count: 64),
            Array(signature.prefix(32)) + zeros.prefix(32), zeros.prefix(32) + Array(signature.suffix(32)),
            padded(signature), [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00], [0x30, 0x80],
        ]
        for signature in wrong {
            #expect(!verifier.accepts(signature, over: message, digest: .sha256), "\(signature)")
        }
    }

    /// Pads R and S to 66 bytes each, as for P-521.
    private func padded(_ raw: [UInt8]) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 34)
        return zeros + raw.prefix(32) + zeros + raw.suffix(32)
    }

    @Test(arguments: [("-sha256", VerifyingKey.Digest.sha256), ("-sha512", .sha512)])
    func `a signature by OpenSSL's command line is verified as DER`(
        option: String, digest: VerifyingKey.Digest
    ) async throws {
        let (verifier, der) = try await signByCommandLine(option)
        #expect(verifier.accepts(der, over: message, digest: digest))
        #expect(!verifier.accepts(der, over: message, digest: digest == .sha256 ? .sha512 : .sha256))
        #expect(!verifier.accepts(der + [0], over: message, digest: digest))
        #expect(!verifier.accepts(Array(der.dropLast()), over: message, digest: digest))
        // BER permits the same length in the long form, but DER does not.
        let longForm = [der[0], 0x81, der[1]] + der.dropFirst(2)
        #expect(!verifier.accepts(longForm, over: message, digest: digest))
    }

    @Test func `with SHA-512 both raw forms are verified, with SHA-256 only the short one`() async throws {
        let (verifier, der) = try await signByCommandLine("-sha512")
        let raw = rawNumbers(ofDER: der)
        #expect(verifier.accepts(raw, over: message, digest: .sha512))
        #expect(verifier.accepts(padded(raw), over: message, digest: .sha512))
        var forged = padded(raw)
        forged[0] = 1
        #expect(!verifier.accepts(forged, over: message, digest: .sha512))
        let (other, otherDER) = try await signByCommandLine("-sha256")
        #expect(other.accepts(rawNumbers(ofDER: otherDER), over: message, digest: .sha256))
        #expect(!other.accepts(padded(rawNumbers(ofDER: otherDER)), over: message, digest: .sha256))
    }

    /// Signs `message` with a new key on OpenSSL's command line.
    private func signByCommandLine(_ digest: String) async throws -> (VerifyingKey, [UInt8]) {
        let directory = try TemporaryDirectory()
        let key = try PrivateKey()
        let keyPath = try directory.write(text(key.pem), to: "key.p8")
        let messagePath = try directory.write(text(message), to: "message")
        let signaturePath = directory.path(of: "signature")
        try await OpenSSLTool.run(["dgst", digest, "-sign", keyPath, "-out", signaturePath, messagePath]).succeeded()
        let der = [UInt8](try Data(contentsOf: URL(fileURLWithPath: signaturePath)))
        return (try verifyingKey(of: key), der)
    }

    /// Returns R and S of a DER signature, with 32 bytes each.
    private func rawNumbers(ofDER der: [UInt8]) -> [UInt8] {
        let first = Array(der[4...].prefix(Int(der[3])))
        let second = Array(der[(4 + first.count + 2)...])
        return [first, second].flatMap { number -> [UInt8] in
            let digits = number.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
    }

    @Test func `a private key survives being written and read`() throws {
        let key = try PrivateKey()
        #expect(text(key.pem).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let copy = try PrivateKey(pem: key.pem)
        #expect(copy.publicKeyDER == key.publicKeyDER)
        #expect(copy.pem == key.pem)
        let signature = try copy.sign(message.span)
        #expect(try verifyingKey(of: key).accepts(signature, over: message, digest: .sha256))
    }

    @Test func `new keys differ`() throws {
        let keys = try (0..<20).map { _ in try PrivateKey().publicKeyDER }
        #expect(Set(keys).count == 20)
    }

    @Test(arguments: [
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        ["genpkey", "-algorithm", "ED25519"],
    ])
    func `a key that is not on P-256 is refused`(command: [String]) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "key.pem")
        try await OpenSSLTool.run(command + ["-out", path]).succeeded()
        let expected = "the key is not on the curve P-256"
        #expect(throws: TLSError.library(during: "reading a private key", text: expected)) {
            _ = try PrivateKey(pem: Array(readText(path).utf8))
        }
        let publicPath = directory.path(of: "public.der")
        try await OpenSSLTool.run(["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", publicPath]).succeeded()
        let der = [UInt8](try Data(contentsOf: URL(fileURLWithPath: publicPath)))
        #expect(throws: TLSError.library(during: "reading a public key", text: expected)) {
            _ = try VerifyingKey(der: der)
        }
    }

    @Test func `a public key that is damaged, cut off or followed by bytes is refused or another key`() throws {
        let key = try PrivateKey()
        let der = key.publicKeyDER
        let signature = try key.sign(message.span)
        for byteCount in 0..<der.count {
            #expect(throws: TLSError.self) { _ = try VerifyingKey(der: Array(der.prefix(byteCount))) }
        }
        let text = "the key is not in its one DER form, with an uncompressed point"
        // Extra bytes follow, or the point has the hybrid form, which also states the parity of its second coordinate.
        let isOdd = der.last.map { $0 & 1 == 1 } ?? false
        let hybrid = der.prefix(26) + [isOdd ? 7 : 6] + der.suffix(64)
        for other in [der + [0], Array(hybrid)] {
            #expect(throws: TLSError.library(during: "reading a public key", text: text)) {
                _ = try VerifyingKey(der: other)
            }
        }
        for bit in 0..<der.count * 8 {
            var changed = der
            changed[bit / 8] ^= 1 << (bit % 8)
            let verifier = try? VerifyingKey(der: changed)
            #expect(verifier?.accepts(signature, over: message, digest: .sha256) != true, "bit \(bit)")
        }
    }

    @Test(arguments: ["", "no PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func `text without a private key is refused`(text: String) {
        #expect(throws: TLSError.self) { _ = try PrivateKey(pem: Array(text.utf8)) }
    }

    @Test func `an encrypted private key is refused without a prompt on the terminal`() async throws {
        let directory = try TemporaryDirectory()
        let plainPath = try directory.write(text(try PrivateKey().pem), to: "plain.p8")
        let path = directory.path(of: "encrypted.p8")
        try await OpenSSLTool.run([
            "pkcs8", "-topk8", "-in", plainPath, "-out", path, "-v2", "aes256", "-passout", "pass:secret",
        ]).succeeded()
        #expect(throws: TLSError.self) { _ = try PrivateKey(pem: Array(readText(path).utf8)) }
    }
}

extension VerifyingKey {
    /// Calls `verifies` with arrays.
    fileprivate func accepts(_ signature: [UInt8], over message: [UInt8], digest: Digest) -> Bool {
        verifies(signature.span, over: message.span, digest: digest)
    }
}
