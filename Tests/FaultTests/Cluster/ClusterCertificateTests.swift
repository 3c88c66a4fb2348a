// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// Certificates and keys of others: docs/reference/cluster-failures.md.
    @Suite(.tags(.slow)) struct ClusterCertificateTests {
        private let files: TemporaryDirectory

        init() throws { files = try TemporaryDirectory() }

        /// Creates a certificate that nobody trusts; returns the paths of the certificate and its key.
        private func makeCertificate(_ name: String) async throws -> (certificate: String, key: String) {
            let (certificate, key) = (files.path(of: "certificate.pem"), files.path(of: "key.pem"))
            try await RunningProcess.run(
                try RepositoryPaths.tool("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key, "-out",
                    certificate,
                ]
            ).succeeded()
            return (certificate, key)
        }

        /// Runs a server that must end at once.
        private func fail(_ options: [String]) async throws -> ProgramResult {
            try await RunningProcess.run(
                RepositoryPaths.program("posthornd"),
                [
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket",
                    files.path(of: "admin.sock"), "--cluster-node", "stranger",
                ] + options)
        }

        @Test func `PostgreSQL with a certificate of another authority: the node does not start, and says why`()
            async throws
        {
            let postgres = try await PostgresServer(usesTLS: true)
            let other = try await makeCertificate("localhost").certificate
            let address = try #require(postgres.address.components(separatedBy: "&sslrootcert=").first)
            let result = try await fail(["--store-url", "\(address)&sslrootcert=\(other)"])
            #expect(result.exit == .code(69), "\(result)")
            #expect(result.errorOutput.contains("certificate verify failed"), "\(result)")
        }

        @Test func `a link with a certificate of another authority: it is refused, and the log says why`() async throws
        {
            let database = try await PostgresDatabase()
            let port = try FreePort.find()
            let node = try await InstalledServer(
                options: [
                    "--store-url", database.address, "--cluster-node", "n1", "--cluster-address", "127.0.0.1:\(port)",
                    "--cluster-key-file", files.path(of: "cluster.key"),
                ], port: port)
            let (certificate, key) = try await makeCertificate("1.node.posthorn.internal")
            let result = try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                [
                    "-sS", "-k", "--http1.1", "--tlsv1.3", "--cert", certificate, "--key", key, "--connect-to",
                    "::127.0.0.1:\(port)", "-o", "/dev/null", "-w", "%{http_code}", "-H", "upgrade: websocket", "-H",
                    "connection: Upgrade", "-H", "sec-websocket-version: 13", "-H",
                    "sec-websocket-protocol: posthorn.node.v1", "-H", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
                    "https://0.node.posthorn.internal/v1/node",
                ])
            #expect(result.output == "403", "\(result)")
            try await eventually("the node logs it", evidence: { node.process.now.transcript }) {
                node.process.now.errorOutput.contains("node_refused")
            }
        }

        @Test func `a node with another cluster key: it does not start, and says why`() async throws {
            let database = try await PostgresDatabase()
            let port = try FreePort.find()
            let options = ["--store-url", database.address, "--cluster-address", "127.0.0.1:\(port)"]
            let node = try await InstalledServer(
                options: options + ["--cluster-node", "n1", "--cluster-key-file", files.path(of: "cluster.key")],
                port: port)
            let other = try files.write(String(repeating: "5a", count: 32) + "\n", to: "other.key")
            let result = try await fail(options + ["--cluster-key-file", other])
            #expect(result.exit != .code(0) && result.errorOutput.contains("key"), "\(result)")
            #expect(node.process.now.exit == nil)
        }
    }
}
