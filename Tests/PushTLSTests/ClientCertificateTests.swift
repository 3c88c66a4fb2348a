// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct ClientCertificateTests {
    private let certificates: TestCertificates
    private let stranger: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        stranger = try TestCertificates(commonName: "Other authority")
    }

    /// Connects a peer with a certificate file that also holds the key, and returns the certificate that the server
    /// sees.
    private func seen(
        _ path: String?, _ arguments: [String] = [], trusting others: [String] = []
    ) async throws -> ClientCertificate? {
        let shown = path.map { ["-cert", $0, "-key", $0] } ?? []
        let peer = try OpenSSLPeer(
            certificates.askingContext(trusting: others), certificates, shown + arguments)
        #expect(peer.connection.tls.clientCertificate == nil, "known before it was proved")
        try peer.connection.handshake()
        try peer.process.write("ping")
        #expect(try peer.connection.read(exactly: 4) == Array("ping".utf8))
        try peer.connection.write(Array("pong".utf8))
        try await peer.waitForOutput("pong")
        return peer.connection.tls.clientCertificate
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a client without a certificate may connect`(version: String) async throws {
        try await #expect(seen(nil, [version]) == nil)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a certificate of the own authority is distinguished from one of another`(version: String) async throws {
        let own = try certificates.write(try certificates.issueClient())
        let other = try stranger.write(try stranger.issueClient())
        let trusted = [stranger.authorityPath]
        try await #expect(seen(own, [version], trusting: trusted)?.verdict == .own)
        try await #expect(seen(other, [version], trusting: trusted)?.verdict == .other)
        // A certificate under an authority in both roles counts as own.
        try await #expect(seen(own, [version], trusting: [certificates.authorityPath])?.verdict == .own)
    }

    @Test func `without an own authority the server trusts the others`() async throws {
        let other = try stranger.write(try stranger.issueClient())
        let context = try TLSContext(
            certificateChainFile: certificates.certificatePath, privateKeyFile: certificates.keyPath,
            clientAuthorities: ClientAuthorities(ownFile: nil, otherFiles: [stranger.authorityPath]))
        let peer = try OpenSSLPeer(context, certificates, ["-cert", other, "-key", other])
        try peer.connection.handshake()
        #expect(peer.connection.tls.clientCertificate?.verdict == .other)
    }

    @Test func `a server that requests no certificate sees none`() async throws {
        let own = try certificates.write(try certificates.issueClient())
        let peer = try OpenSSLPeer(certificates.context(), certificates, ["-cert", own, "-key", own])
        try peer.connection.handshake()
        #expect(peer.connection.tls.clientCertificate == nil)
    }

    @Test func `a certificate's contents match the output of OpenSSL's command line`() async throws {
        let content: [UInt8] = [0x30, 0x03, 0x0C, 0x01, 0x61]
        let issued = try certificates.issueClient(
            subject: [("UID", "com.example.Bücher"), ("CN", "Apple Push Services: com.example"), ("OU", "TEAM123456")],
            extensions: [("1.2.840.113635.100.6.3.1", [5, 0]), ("1.2.840.113635.100.6.3.6", content)])
        let path = try certificates.write(issued)
        let certificate = try #require(try await seen(path))
        #expect(certificate.subjectUserID == "com.example.Bücher")
        #expect(certificate.subjectOrganizationalUnit == "TEAM123456")
        #expect(certificate.extensions["1.2.840.113635.100.6.3.1"] == [5, 0])
        #expect(certificate.extensions["1.2.840.113635.100.6.3.6"] == content)
        #expect(certificate.extensions["2.5.29.37"] == [0x30, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 2])
        #expect(certificate.extensions.count == 7)
        #expect(certificate.fingerprint == issued.fingerprint)
        #expect(certificate.serialNumber == issued.serialNumber)
        let shown = try await OpenSSLTool.run(["x509", "-in", path, "-noout", "-serial", "-fingerprint", "-sha256"])
            .succeeded().output
        let digits = Array("0123456789ABCDEF")
        let fingerprint = issued.fingerprint.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }
        #expect(shown.contains("serial=\(issued.serialNumber)\n"))
        #expect(shown.contains("Fingerprint=\(fingerprint.joined(separator: ":"))\n"))
    }

    @Test(arguments: [
        ("/CN=x", nil, nil), ("/UID=a/UID=b/OU=c/OU=d", nil, nil), ("/UID=a+OU=b", "a", "b"),
    ])
    func `an attribute is used only if it appears once`(subject: String, userID: String?, unit: String?) async throws {
        let path = try await OddCertificates(certificates: certificates).make(
            "odd", signer: (certificates.authorityPath, certificates.authorityKeyPath), subject: subject)
        let certificate = try #require(try await seen(path))
        #expect(certificate.verdict == .own)
        #expect(certificate.subjectUserID == userID)
        #expect(certificate.subjectOrganizationalUnit == unit)
    }
}
