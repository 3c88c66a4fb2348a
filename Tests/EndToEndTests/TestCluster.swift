// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// Three servers that share a database in PostgreSQL, as one cluster.
struct TestCluster {
    let database: PostgresDatabase
    /// The database of shard 1; nil without one.
    let shard: PostgresDatabase?
    /// The nodes `n1`, `n2` and `n3`.
    let nodes: [InstalledServer]
    private let files: TemporaryDirectory
    /// The directory of PostgreSQL's sockets.
    private let sockets: String

    init(hasSecondShard: Bool = false) async throws {
        database = try await PostgresDatabase()
        shard = hasSecondShard ? try await PostgresDatabase() : nil
        let shardOptions = shard.map { ["--cluster-shards", $0.address] } ?? []
        files = try TemporaryDirectory()
        let (name, value) = ("?host=", database.address)
        let start = value.firstRange(of: name)?.upperBound ?? value.endIndex
        sockets = String(value[start...].prefix { $0 != "&" })
        try await Self.prepare(files, database)
        var nodes: [InstalledServer] = []
        for number in 1...3 {
            let port = try FreePort.find()
            // Each node has its own path to PostgreSQL, so that a test can cut one off.
            let path = files.path(of: "n\(number)")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: sockets)
            nodes.append(
                try await InstalledServer(
                    options: [
                        "--store-url", value.replacing(name + sockets, with: name + path), "--cluster-node",
                        "n\(number)", "--cluster-address", "127.0.0.1:\(port)", "--cluster-key-file",
                        files.path(of: "cluster-n\(number).key"), "--metrics-listen", "127.0.0.1:0",
                    ] + shardOptions, port: port))
        }
        self.nodes = nodes
    }

    /// Prepares the cluster on another machine, as an administrator would, and copies its key to each node.
    private static func prepare(_ files: TemporaryDirectory, _ database: PostgresDatabase) async throws {
        let configuration = try files.write(
            """
            [store]
            url = \(database.address)
            [cluster]
            address = 127.0.0.1:2197
            """, to: "posthornd.ini")
        try await RunningProcess.run(
            RepositoryPaths.program("posthorn"),
            ["cluster", "init", "--config", configuration, "--data-directory", files.path(of: "administrator")]
        ).succeeded()
        for number in 1...3 {
            try FileManager.default.copyItem(
                atPath: files.path(of: "administrator/cluster.key"), toPath: files.path(of: "cluster-n\(number).key"))
        }
    }

    /// Returns the path of a node's file with the key of the cluster.
    func keyFile(_ node: Int) -> String { files.path(of: "cluster-n\(node + 1).key") }

    /// Returns a provider that sends to another node than the one that issued its key.
    func provider(of target: ProviderTarget, at node: Int) async throws -> APNsProvider {
        var target = target
        target.port = nodes[node].port
        return try await APNsProvider(target)
    }

    /// Runs a `posthorn` command at a node; returns its result, whatever it is.
    func posthorn(_ arguments: String..., at node: Int) async throws -> ProgramResult {
        try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), arguments,
            environment: ["POSTHORN_ADMIN_SOCKET": nodes[node].admin.path], within: .seconds(120))
    }

    // MARK: Faults

    /// Ends the connections of a node to PostgreSQL, and prevents new ones.
    func cutOff(_ node: Int) async throws {
        try FileManager.default.removeItem(atPath: files.path(of: "n\(node + 1)"))
        _ = try await database.sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'posthornd n\(node + 1)' AND datname = current_database()
            """)
    }

    /// Lets a node connect to PostgreSQL again.
    func heal(_ node: Int) throws {
        try FileManager.default.createSymbolicLink(
            atPath: files.path(of: "n\(node + 1)"), withDestinationPath: sockets)
    }
}
