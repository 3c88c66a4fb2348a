// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushNet
import PushPostgres
import PushTLS
import TestSupport
import Testing

@testable import PushCluster

/// Links to a real server with certificates of its cluster's authority, and of the former one.
@Suite(.needsPostgres) struct FormerAuthorityTests {
    private let files: TemporaryDirectory

    init() throws { files = try TemporaryDirectory() }

    /// Reads the authority of the cluster, as a machine can that has the key of the cluster and reaches PostgreSQL.
    private func authority(_ database: PostgresDatabase) throws -> ClusterAuthority {
        let secrets = try SharedSecrets(
            try PostgresAddress(database.address), schema: "posthorn", keyFile: files.path(of: "cluster.key"))
        let keeper = secrets.makeKeeper(EventLog(threshold: .error, isJournal: false))
        return try #require(keeper.authority)
    }

    /// Asks a server for a link as node 0, and returns the status of the answer.
    ///
    /// The server closes a link when its pings are not answered.
    private func ask(_ server: InstalledServer, _ authority: ClusterAuthority) async throws -> String {
        let credentials = try authority.issueCredentials(for: NodeNumber(rawValue: 0))
        let certificate = try files.write(String(decoding: credentials.certificate, as: UTF8.self), to: "node.pem")
        let key = try files.write(String(decoding: credentials.privateKey, as: UTF8.self), to: "node.key")
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("curl"),
            [
                "-sS", "-k", "--http1.1", "--tlsv1.3", "--max-time", "30", "--cert", certificate, "--key", key,
                "--connect-to", "::127.0.0.1:\(server.port)", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                "upgrade: websocket", "-H", "connection: Upgrade", "-H", "sec-websocket-version: 13", "-H",
                "sec-websocket-protocol: posthorn.node.v1", "-H", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
                "https://1.node.posthorn.internal/v1/node",
            ])
        return result.output
    }

    @Test(.tags(.slow))
    func `a link with a certificate from before a removal: it is refused, and one of the new authority opens a link`()
        async throws
    {
        let database = try await PostgresDatabase()
        let port = try FreePort.find()
        let options = [
            "--store-url", database.address, "--cluster-address", "127.0.0.1:\(port)", "--cluster-key-file",
            files.path(of: "cluster.key"),
        ]
        try await RunningProcess.run(
            RepositoryPaths.program("posthornd"),
            ["--init-cluster", "--data-directory", files.path(of: "data")] + options
        ).succeeded()
        _ = try await database.sql(
            """
            INSERT INTO posthorn.nodes(number, name, instance, seen_at, id_ceiling, speaks, version, draining, address)
            VALUES (0, 'stolen', 1, now() - interval '1 minute', 1, 1, '1', 0, '127.0.0.1:1')
            """)
        let server = try await InstalledServer(options: options + ["--cluster-node", "n1"], port: port)
        let former = try authority(database)
        #expect(try await ask(server, former) == "101")
        try await server.posthorn("cluster", "remove", "stolen")
        #expect(try await ask(server, former) == "403")
        #expect(server.process.now.errorOutput.contains("node_refused"))
        #expect(try await ask(server, authority(database)) == "101")
    }
}
