// SPDX-License-Identifier: Apache-2.0

import PushTLS
import TestSupport

/// A throw-away authority and a server certificate of it, as files.
final class TestCertificates: Sendable {
    let directory: TemporaryDirectory
    let authorityPath: String
    let certificatePath: String
    let keyPath: String

    init(names: [String] = ["localhost", "127.0.0.1"]) throws {
        directory = try TemporaryDirectory()
        let authority = try CertificateAuthority.make(commonName: "Test authority")
        let server = try CertificateAuthority.issueServerCertificate(
            names: names, authorityCertificate: authority.certificate, authorityPrivateKey: authority.privateKey)
        authorityPath = try directory.write(text(authority.certificate), to: "ca.pem")
        certificatePath = try directory.write(text(server.certificate), to: "server.pem")
        keyPath = try directory.write(text(server.privateKey), to: "server.key")
    }

    /// A context with them.
    func context() throws -> TLSContext {
        try TLSContext(certificateChainFile: certificatePath, privateKeyFile: keyPath)
    }
}

/// Bytes as text.
func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

/// OpenSSL's command line, which stands for all peers.
enum OpenSSLTool {
    static let path = "/usr/bin/openssl"

    /// Runs one of its commands to the end.
    static func run(_ arguments: [String], input: String? = nil) async throws -> ProgramResult {
        try await RunningProcess.run(path, arguments, input: input)
    }
}
