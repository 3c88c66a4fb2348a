// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct ClientIssuingTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    @Test func `a client certificate verifies strictly for clients and for no other purpose`() async throws {
        let path = try certificates.write(try certificates.issueClient())
        let arguments = ["verify", "-x509_strict", "-CAfile", certificates.authorityPath, "-purpose"]
        try await OpenSSLTool.run(arguments + ["sslclient", path]).succeeded()
        try await #expect(OpenSSLTool.run(arguments + ["sslserver", path]).exit != .code(0))
        let names = "basicConstraints,keyUsage,extendedKeyUsage,subjectKeyIdentifier,authorityKeyIdentifier"
        let output = try await OpenSSLTool.run(["x509", "-in", path, "-noout", "-ext", names]).succeeded().output
        #expect(output.contains("X509v3 Basic Constraints: critical\n    CA:FALSE"))
        #expect(output.contains("X509v3 Key Usage: critical\n    Digital Signature\n"))
        #expect(output.contains("X509v3 Extended Key Usage: \n    TLS Web Client Authentication\n"))
    }

    @Test func `the subject has its attributes in their order`() async throws {
        let subject = [("UID", "com.example.MyApp"), ("CN", "Apple Push Services: com.example.MyApp"), ("OU", "TEAM")]
        let path = try certificates.write(try certificates.issueClient(subject: subject))
        let output = try await OpenSSLTool.run(["x509", "-in", path, "-noout", "-subject"]).succeeded().output
        #expect(
            output == "subject=UID = com.example.MyApp, CN = Apple Push Services: com.example.MyApp, OU = TEAM\n")
    }

    @Test(arguments: [1, 365, 825])
    func `a certificate lasts the requested days and reports its end`(days: Int) throws {
        let issued = try certificates.issueClient(days: days)
        let left = try CertificateAuthority.secondsUntilExpiry(certificate: issued.certificate)
        #expect((Int64(days) * 86_400 - 120...Int64(days) * 86_400).contains(left))
        let server = try CertificateAuthority.secondsUntilExpiry(certificate: certificates.authority.certificate)
        #expect(left < server)
    }

    @Test func `a certificate does not outlive its authority`() async throws {
        let path = try await OddCertificates(certificates: certificates).make(
            "ca", signer: nil, subject: "/CN=short", end: "20980101000000Z",
            extensions: "basicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=hash")
        let pem = Array(readText(path).utf8)
        let issued = try CertificateAuthority.issueClientCertificate(
            subject: [("UID", "a")], extensions: [], days: 36_525, authorityCertificate: pem, authorityPrivateKey: pem)
        #expect(issued.expiresUnixSeconds == 4_039_372_800)
    }

    @Test(arguments: [0, -1, 36_526, .max, .min])
    func `an invalid number of days is refused`(days: Int) {
        let error = TLSError.library(
            during: "issuing a client certificate", text: "\(days) days are not 1 to 36525")
        #expect(throws: error) { _ = try certificates.issueClient(days: days) }
    }

    @Test(arguments: [
        ("", "a"), ("NoSuchName", "a"), ("CN", ""), ("CN", String(repeating: "a", count: 65)), ("C", "x"),
    ])
    func `a subject that X_509 cannot hold is refused`(name: String, value: String) {
        #expect(throws: TLSError.self) { _ = try certificates.issueClient(subject: [(name, value)]) }
    }

    @Test(arguments: ["", "1", "1.2.x", "clientAuth", "9.9", "2.5.29.19"])
    func `an invalid or duplicate identifier is refused`(identifier: String) {
        #expect(throws: TLSError.self) { _ = try certificates.issueClient(extensions: [(identifier, [5, 0])]) }
    }

    @Test func `a duplicate extension is refused`() {
        let error = TLSError.library(
            during: "making a certificate's extension 1.2.3", text: "the extension was added already")
        #expect(throws: error) {
            _ = try certificates.issueClient(extensions: [("1.2.3", [5, 0]), ("1.2.3", [5, 0])])
        }
    }

    @Test func `a foreign key and an invalid authority are refused`() throws {
        let stranger = try TestCertificates()
        let issued = try certificates.issueClient()
        let cases = [
            (
                certificates.authority.certificate, stranger.authority.privateKey,
                "the authority's key does not belong to its certificate"
            ),
            (issued.certificate, issued.privateKey, "the authority's certificate may not sign others"),
        ]
        for (certificate, key, text) in cases {
            #expect(throws: TLSError.library(during: "issuing a client certificate", text: text)) {
                _ = try CertificateAuthority.issueClientCertificate(
                    subject: [("UID", "a")], extensions: [], days: 1, authorityCertificate: certificate,
                    authorityPrivateKey: key)
            }
        }
    }
}
