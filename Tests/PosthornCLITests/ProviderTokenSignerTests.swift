// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushCore
internal import PushTLS
internal import TestSupport
internal import Testing

struct ProviderTokenSignerTests {
    private func parsed(_ compact: [UInt8]) throws -> ProviderToken {
        // `#require` cannot take a span as an argument.
        let token = ProviderToken(compact: compact.span)
        return try #require(token)
    }

    private func verifies(_ key: VerifyingKey, _ token: ProviderToken, over signed: [UInt8]) -> Bool {
        key.verifies(token.signature.span, over: signed.span, digest: .sha256)
    }

    @Test func `a signed token verifies with the public key and names its issuer and time`() throws {
        let key = try PrivateKey()
        let signer = ProviderTokenSigner(key: key, keyID: "ABC1234567", teamID: "TEAM123456")
        let text = try signer.sign(issuedAt: Timestamp(unixSeconds: 1_795_295_709))
        let compact = Array(text.utf8)
        let token = try parsed(compact)
        #expect(token.keyID == "ABC1234567" && token.teamID == "TEAM123456")
        #expect(token.issuedAt.unixSeconds == 1_795_295_709 && token.algorithm == .es256)

        let verifier = try VerifyingKey(der: key.publicKeyDER)
        var signed = Array(compact[..<token.signedByteCount])
        #expect(verifies(verifier, token, over: signed))
        signed[0] ^= 1
        #expect(!verifies(verifier, token, over: signed))
    }

    @Test func `another key does not verify it`() throws {
        let signer = ProviderTokenSigner(key: try PrivateKey(), keyID: "ABC1234567", teamID: "TEAM123456")
        let compact = Array(try signer.sign(issuedAt: .unixEpoch).utf8)
        let token = try parsed(compact)
        let other = try VerifyingKey(der: try PrivateKey().publicKeyDER)
        let signed = Array(compact[..<token.signedByteCount])
        #expect(!verifies(other, token, over: signed))
    }

    @Test func `a key is read from its file`() throws {
        let files = try TemporaryDirectory()
        let key = try PrivateKey()
        let path = try files.write(String(decoding: key.pem, as: UTF8.self), to: "AuthKey_ABC1234567.p8")
        #expect(try ProviderTokenSigner.readKey(path).publicKeyDER == key.publicKeyDER)
    }

    @Test(arguments: ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func `a file without a key is refused with its path`(text: String) throws {
        let files = try TemporaryDirectory()
        let path = try files.write(text, to: "key.p8")
        let error = thrown { () throws(CommandError) in _ = try ProviderTokenSigner.readKey(path) }
        #expect(error?.problem == "\(path): not a P-256 private key in PKCS#8 PEM")
        #expect(error?.exitCode == .refused)
    }

    @Test(arguments: [
        ("AuthKey_ABC1234567.p8", "ABC1234567"), ("/keys/AuthKey_ABC1234567.p8", "ABC1234567"),
        ("AuthKey_ABC123456.p8", nil), ("AuthKey_ABC12345678.p8", nil), ("AuthKey_abc1234567.p8", nil),
        ("AuthKey_ABC1234567.pem", nil), ("key.p8", nil), ("", nil), ("AuthKey_ABC1234567.p8/", "ABC1234567"),
        ("AuthKey_ABC1234567.p8/key.p8", nil), ("AuthKey_ÄBC123456.p8", nil),
    ])
    func `the key ID is found in a file name of Apple's form`(path: String, keyID: String?) {
        #expect(ProviderTokenSigner.keyID(fromFileName: path) == keyID)
    }
}
