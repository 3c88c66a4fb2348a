// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport

/// A throw-away authority and a server certificate issued by it, as files.
final class TestCertificates: Sendable {
    let directory: TemporaryDirectory
    let authority: (certificate: [UInt8], privateKey: [UInt8])
    let authorityPath: String
    let authorityKeyPath: String
    let certificatePath: String
    let keyPath: String

    init(names: [String] = ["localhost", "127.0.0.1"], commonName: String = "Test authority") throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.make(commonName: commonName)
        let server = try CertificateAuthority.issueServerCertificate(
            names: names, authorityCertificate: authority.certificate, authorityPrivateKey: authority.privateKey)
        authorityPath = try directory.write(text(authority.certificate), to: "ca.pem")
        authorityKeyPath = try directory.write(text(authority.privateKey), to: "ca.key")
        certificatePath = try directory.write(text(server.certificate), to: "server.pem")
        keyPath = try directory.write(text(server.privateKey), to: "server.key")
    }

    /// Returns a context with these files.
    func context() throws -> TLSContext {
        try TLSContext(certificateChainFile: certificatePath, privateKeyFile: keyPath)
    }

    /// Returns a context that requests client certificates of this authority and of others.
    func askingContext(trusting others: [String] = []) throws -> TLSContext {
        try TLSContext(
            certificateChainFile: certificatePath, privateKeyFile: keyPath,
            clientAuthorities: ClientAuthorities(ownFile: authorityPath, otherFiles: others))
    }

    /// Issues a client certificate under this authority.
    func issueClient(
        subject: [(name: String, value: String)] = [("UID", "com.example.MyApp")],
        extensions: [(identifier: String, content: [UInt8])] = [], days: Int = 365
    ) throws -> CertificateAuthority.IssuedClientCertificate {
        try CertificateAuthority.issueClientCertificate(
            subject: subject, extensions: extensions, days: days, authorityCertificate: authority.certificate,
            authorityPrivateKey: authority.privateKey)
    }

    /// Writes certificate and key to one file, the format that APNs libraries expect.
    func write(_ issued: CertificateAuthority.IssuedClientCertificate, to name: String = "client.pem") throws -> String
    {
        try directory.write(text(issued.certificate) + text(issued.privateKey), to: name)
    }
}

/// Decodes bytes as UTF-8 text.
func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

/// OpenSSL's command line, which represents other TLS implementations.
enum OpenSSLTool {
    static let path = "/usr/bin/openssl"

    /// Runs one OpenSSL command to its end.
    static func run(_ arguments: [String], input: String? = nil) async throws -> ProgramResult {
        try await RunningProcess.run(path, arguments, input: input)
    }
}
