// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushTLS
import TestSupport
import Testing

@Suite struct PKCS12Tests {
    private let certificates: TestCertificates
    private let issued: CertificateAuthority.IssuedClientCertificate

    init() throws {
        certificates = try TestCertificates()
        issued = try certificates.issueClient()
    }

    /// Writes a PKCS#12 file and returns its path.
    private func write(password: String, authority: [UInt8]? = nil, name: String = "com.example.MyApp") throws -> String
    {
        let path = certificates.directory.path(of: "client.p12")
        let bytes = try PKCS12.make(
            certificate: issued.certificate, privateKey: issued.privateKey, authority: authority, friendlyName: name,
            password: password)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func show(_ path: String, _ password: String, _ arguments: [String]) async throws -> ProgramResult {
        try await OpenSSLTool.run(["pkcs12", "-in", path, "-passin", "pass:\(password)"] + arguments)
    }

    @Test(arguments: ["secret", "with blank", "Schlüssel€", String(repeating: "x", count: 200)])
    func `a file opens with its password and holds certificate and key`(password: String) async throws {
        let path = try write(password: password)
        let output = try await show(path, password, ["-nodes"]).succeeded().output
        #expect(output.contains(text(issued.certificate)))
        #expect(output.contains(text(issued.privateKey)))
        #expect(output.contains("friendlyName: com.example.MyApp"))
        #expect(output.split(separator: "BEGIN CERTIFICATE").count == 2)
        try await #expect(show(path, password + "x", ["-nodes"]).exit != .code(0))
    }

    @Test func `the authority is included when it is given`() async throws {
        let path = try write(password: "secret", authority: certificates.authority.certificate)
        let output = try await show(path, "secret", ["-nodes", "-cacerts"]).succeeded().output
        #expect(output.contains(text(certificates.authority.certificate)))
        #expect(!output.contains(text(issued.certificate)))
    }

    @Test func `the file uses the encryption that current readers expect`() async throws {
        let path = try write(password: "secret")
        let output = try await show(path, "secret", ["-info", "-noout"]).succeeded().errorOutput
        #expect(output.contains("MAC: sha256, Iteration 10000"))
        let cipher = "PBES2, PBKDF2, AES-256-CBC, Iteration 10000, PRF hmacWithSHA256"
        #expect(output.contains("Encrypted data: \(cipher)"))
        #expect(output.contains("Shrouded Keybag: \(cipher)"))
    }

    @Test func `a peer authenticates with the contents of the file`() async throws {
        let path = try write(password: "secret", authority: certificates.authority.certificate)
        let pem = try await show(path, "secret", ["-nodes", "-clcerts"]).succeeded().output
        let pemPath = try certificates.directory.write(pem, to: "from.pem")
        let peer = try OpenSSLPeer(certificates.askingContext(), certificates, ["-cert", pemPath, "-key", pemPath])
        try peer.connection.handshake()
        #expect(peer.connection.tls.clientCertificate?.fingerprint == issued.fingerprint)
    }

    @Test(arguments: ["", "a\u{0}b"])
    func `an empty password and one with a NUL are refused`(password: String) {
        #expect(throws: TLSError.self) { _ = try write(password: password) }
    }

    @Test func `another key and texts that are not PEM are refused`() throws {
        let other = try certificates.issueClient()
        let cases: [([UInt8], [UInt8], [UInt8]?)] = [
            (issued.certificate, other.privateKey, nil), ([], issued.privateKey, nil), (issued.certificate, [1], nil),
            (issued.certificate, issued.privateKey, Array("no PEM".utf8)),
        ]
        for (certificate, key, authority) in cases {
            #expect(throws: TLSError.self) {
                _ = try PKCS12.make(
                    certificate: certificate, privateKey: key, authority: authority, friendlyName: "a",
                    password: "secret")
            }
        }
    }
}
