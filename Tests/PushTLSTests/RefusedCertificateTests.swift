// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct RefusedCertificateTests {
    private let certificates: TestCertificates
    private let odd: OddCertificates
    private var signer: (certificate: String, key: String) {
        (certificates.authorityPath, certificates.authorityKeyPath)
    }

    init() throws {
        certificates = try TestCertificates()
        odd = OddCertificates(certificates: certificates)
    }

    /// Returns the server's verdict on a client certificate, which must be the same under both TLS versions.
    ///
    /// The connection succeeds whatever the verdict is.
    ///
    /// - Parameters:
    ///   - path: The file with the certificate.
    ///   - key: The file with the key; nil for the same file.
    ///   - chain: The file with more certificates to send; nil for none.
    ///   - others: The files of more authorities that the server trusts.
    /// - Returns: The verdict; nil if the server saw no certificate.
    /// - Throws: An error when the connection fails.
    private func verdict(
        _ path: String, key: String? = nil, chain: String? = nil, trusting others: [String] = []
    ) async throws -> ClientCertificate.Verdict? {
        var verdicts: [ClientCertificate.Verdict?] = []
        for version in ["-tls1_2", "-tls1_3"] {
            let shown = ["-cert", path, "-key", key ?? path] + (chain.map { ["-cert_chain", $0] } ?? [])
            let peer = try OpenSSLPeer(
                certificates.askingContext(trusting: others), certificates, shown + [version])
            try peer.connection.handshake()
            try peer.process.write("ping")
            #expect(try peer.connection.read(exactly: 4) == Array("ping".utf8))
            verdicts.append(peer.connection.tls.clientCertificate?.verdict)
        }
        #expect(verdicts[0] == verdicts[1])
        return verdicts[0]
    }

    @Test func `an expired certificate is refused, and a current one is not`() async throws {
        let old = try await odd.make("old", signer: signer, end: "20250101000000Z")
        try await #expect(verdict(old) == .refused("certificate has expired"))
        let good = try await odd.make("good", signer: signer)
        try await #expect(verdict(good) == .own)
    }

    @Test func `a certificate that is not yet valid is refused`() async throws {
        let path = try await odd.make("early", signer: signer, start: "20980101000000Z")
        try await #expect(verdict(path) == .refused("certificate is not yet valid"))
    }

    @Test func `a self-signed certificate is refused`() async throws {
        let path = try await odd.make("self", signer: nil)
        try await #expect(verdict(path) == .refused("self-signed certificate"))
    }

    @Test func `a certificate of an unknown authority is refused, even with a known authority's name`() async throws {
        let stranger = try TestCertificates()
        let path = try stranger.write(try stranger.issueClient())
        let refused = ClientCertificate.Verdict.refused("unable to get local issuer certificate")
        try await #expect(verdict(path) == refused)
        // The chain includes the impostor's authority, which has the same name.
        let selfSigned = ClientCertificate.Verdict.refused("self-signed certificate in certificate chain")
        try await #expect(verdict(path, chain: stranger.authorityPath) == selfSigned)
    }

    @Test func `a certificate that only claims the known authority as its issuer is refused`() async throws {
        // The name is the same and there is no key identifier, so only the signature differs.
        let impostor = try TestCertificates()
        let path = try await odd.make(
            "forged", signer: (impostor.authorityPath, impostor.authorityKeyPath),
            extensions: "basicConstraints=CA:FALSE\nauthorityKeyIdentifier=none")
        let found = try await verdict(path)
        #expect(found == .refused("certificate signature failure"))
    }

    @Test func `a server certificate is refused, including the server's own`() async throws {
        let refused = ClientCertificate.Verdict.refused("unsuitable certificate purpose")
        try await #expect(verdict(certificates.certificatePath, key: certificates.keyPath) == refused)
    }

    @Test func `a duplicate extension is refused`() async throws {
        let path = try odd.makeWithComments("twice", count: 2)
        let once = try odd.makeWithComments("once", count: 1)
        try await #expect(verdict(once) == .own)
        try await #expect(verdict(path) == .refused("the certificate repeats an extension"))
    }

    @Test func `a certificate signed by an issued certificate is refused`() async throws {
        let middle = try certificates.write(try certificates.issueClient(), to: "middle.pem")
        let path = try await odd.make("leaf", signer: (middle, middle))
        try await #expect(verdict(path, chain: middle) == .refused("invalid CA certificate"))
    }

    @Test func `an intermediate authority works when it leads to a trusted one or is trusted itself`() async throws {
        let authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash"
        let root = try await odd.make("root", signer: nil, subject: "/CN=root", extensions: authority)
        let middle = try await odd.make("middle", signer: (root, root), subject: "/CN=middle", extensions: authority)
        let leaf = try await odd.make("leaf", signer: (middle, middle))
        try await #expect(verdict(leaf, chain: middle, trusting: [root]) == .other)
        try await #expect(verdict(leaf, trusting: [middle]) == .other)
        let refused = ClientCertificate.Verdict.refused("unable to get local issuer certificate")
        try await #expect(verdict(leaf, trusting: [root]) == refused)
    }

    @Test(arguments: [(4, true), (5, false)])
    func `a chain may have four intermediate authorities and no more`(count: Int, isGood: Bool) async throws {
        let authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash"
        let root = try await odd.make("root", signer: nil, subject: "/CN=root", extensions: authority)
        var last = root
        var chain = ""
        for number in 0..<count {
            last = try await odd.make(
                "number\(number)", signer: (last, last), subject: "/CN=number\(number)", extensions: authority)
            chain += readText(certificates.directory.path(of: "number\(number).crt"))
        }
        let leaf = try await odd.make("leaf", signer: (last, last))
        let chainPath = try certificates.directory.write(chain, to: "chain.pem")
        let found = try await verdict(leaf, chain: chainPath, trusting: [root])
        #expect(found == (isGood ? .other : .refused("certificate chain too long")))
    }

    @Test func `a chain of too many bytes ends the handshake`() async throws {
        let long = "1.2.3.4=ASN1:UTF8:\(String(repeating: "a", count: 16_000))"
        let path = try await odd.make("long", signer: signer, extensions: long)
        let peer = try OpenSSLPeer(certificates.askingContext(), certificates, ["-cert", path, "-key", path])
        #expect(throws: TLSError.peer("excessive message size")) { try peer.connection.handshake() }
        #expect(peer.connection.tls.clientCertificate == nil)
    }
}
