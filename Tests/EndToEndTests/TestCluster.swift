// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

/// Three servers that share a database in PostgreSQL, as one cluster.
struct TestCluster {
    let database: PostgresDatabase
    /// The nodes `n1`, `n2` and `n3`.
    let nodes: [InstalledServer]
    private let files: TemporaryDirectory

    init() async throws {
        database = try await PostgresDatabase()
        files = try TemporaryDirectory()
        var nodes: [InstalledServer] = []
        for number in 1...3 {
            let port = try FreePort.find()
            nodes.append(
                try await InstalledServer(
                    options: [
                        "--store-url", database.address, "--cluster-node", "n\(number)",
                        "--cluster-address", "127.0.0.1:\(port)", "--cluster-key-file",
                        files.path(of: "cluster.key"),
                    ], port: port))
        }
        self.nodes = nodes
    }

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
            environment: ["POSTHORN_ADMIN_SOCKET": nodes[node].admin.path])
    }
}
