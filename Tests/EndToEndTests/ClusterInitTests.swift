// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// The command `posthorn cluster init`.
    @Suite(.needsPostgres) struct ClusterInitTests {
        private let files: TemporaryDirectory
        private let database: PostgresDatabase

        init() async throws {
            files = try TemporaryDirectory()
            database = try await PostgresDatabase()
        }

        /// Runs the command on a machine with a data directory of its own.
        private func initialize(
            _ machine: String, url: String? = nil, address: String? = "127.0.0.1:2197"
        ) async throws -> ProgramResult {
            let lines = ["[store]", "url = \(url ?? database.address)", "[cluster]"]
            let configuration = try files.write(
                (lines + (address.map { ["address = \($0)"] } ?? [])).joined(separator: "\n"), to: "\(machine).ini")
            return try await RunningProcess.run(
                RepositoryPaths.program("posthorn"),
                ["cluster", "init", "--config", configuration, "--data-directory", files.path(of: machine)],
                environment: ["PGCONNECT_TIMEOUT": "2"])
        }

        /// Copies the key of the cluster from one machine to another.
        private func copyKey(from machine: String, to other: String) throws {
            _ = try files.makeDirectory(other)
            try FileManager.default.copyItem(
                atPath: files.path(of: "\(machine)/cluster.key"), toPath: files.path(of: "\(other)/cluster.key"))
        }

        @Test func `the first machine makes keys, a repetition changes nothing, and others get the same keys`()
            async throws
        {
            let first = try await initialize("first")
            #expect(first.exit == .code(0) && first.output.contains("is ready for its first node"), "\(first)")
            #expect(first.output.contains("Keep a copy"), "\(first)")
            let names = ["cluster.key", "token.keys", "authority.pem", "authority.key", "team-id"]
            let made = names.map { files.read("first/\($0)") }
            #expect(made.allSatisfy { !$0.isEmpty })
            let secrets = try await database.sql("SELECT name, md5(sealed) FROM posthorn.secrets ORDER BY name")
            let again = try await initialize("first")
            #expect(again.exit == .code(0) && again.output.contains("exists already"), "\(again)")
            #expect(names.map { files.read("first/\($0)") } == made)
            #expect(
                try await database.sql("SELECT name, md5(sealed) FROM posthorn.secrets ORDER BY name") == secrets)
            try copyKey(from: "first", to: "second")
            let second = try await initialize("second")
            #expect(second.exit == .code(0) && second.output.contains("exists already"), "\(second)")
            #expect(names.map { files.read("second/\($0)") } == made)
        }

        @Test func `a cluster takes the token keys and the authority of a server that ran alone`() async throws {
            let server = try await InstalledServer(options: ["--store-url", database.address])
            try await server.process.killNow()
            let data = server.files.path(of: "data")
            let keys = readText("\(data)/token.keys")
            try FileManager.default.createSymbolicLink(
                atPath: files.path(of: "first"), withDestinationPath: data)
            let first = try await initialize("first")
            #expect(first.exit == .code(0) && first.output.contains("It uses the keys"), "\(first)")
            #expect(readText("\(data)/token.keys") == keys)
            try copyKey(from: "first", to: "second")
            #expect(try await initialize("second").exit == .code(0))
            #expect(files.read("second/token.keys") == keys)
        }

        @Test func `an address that other nodes cannot reach causes a warning`() async throws {
            let local = try await initialize("first", address: "127.0.0.1:2198")
            #expect(local.exit == .code(0), "\(local)")
            #expect(local.output.contains("127.0.0.1, which is a loopback address on this machine"), "\(local)")
            #expect(local.output.contains("the port 2198, which is not in [server] listen"), "\(local)")
            let unknown = try await initialize("first", address: "n1.invalid:2197")
            #expect(unknown.exit == .code(0), "\(unknown)")
            #expect(unknown.output.contains("n1.invalid, which this machine cannot resolve"), "\(unknown)")
            #expect(!unknown.output.contains("[server] listen"), "\(unknown)")
            let any = try await initialize("first", address: "*:2197")
            #expect(any.exit == .code(78) && any.errorOutput.contains("that the other nodes can reach"), "\(any)")
        }

        @Test func `a machine with other keys is refused, and its files belong to the owner of its directory`()
            async throws
        {
            #expect(try await initialize("first").exit == .code(0))
            try copyKey(from: "first", to: "second")
            try files.write("TEAM123456\n", to: "second/team-id")
            let directory = files.path(of: "second")
            guard unsafe chown(directory, 65_534, 65_534) == 0 else { return }
            let refused = try await initialize("second")
            #expect(refused.exit == .code(73), "\(refused)")
            #expect(refused.errorOutput.contains("second/team-id: The file differs from that of the cluster."))
            for name in ["token.keys", "authority.key", "cluster.key"] {
                let owner = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")[.ownerAccountID]
                #expect(owner as? Int == 65_534, "\(name)")
            }
        }

        @Test func `a store with SQLite can be copied to PostgreSQL after the command`() async throws {
            let server = try await InstalledServer(options: ["--store-url", ""])
            try await server.posthorn("app", "add", "com.example.Old")
            try await server.process.killNow()
            let data = server.files.path(of: "data")
            try FileManager.default.createSymbolicLink(atPath: files.path(of: "first"), withDestinationPath: data)
            let first = try await initialize("first")
            #expect(first.exit == .code(0) && first.output.contains("posthorn migrate"), "\(first)")
            let copied = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"),
                [
                    "migrate", "--to", database.address, "--config", files.path(of: "first.ini"), "--data-directory",
                    data,
                ])
            #expect(copied.exit == .code(0), "\(copied)")
            #expect(try await database.sql("SELECT topic FROM posthorn.topics") == "com.example.Old")
            let again = try await initialize("first")
            #expect(again.exit == .code(0) && !again.output.contains("posthorn migrate"), "\(again)")
        }

        @Test func `a node with the key of a cluster does not begin another one in an empty database`() async throws {
            #expect(try await initialize("first").exit == .code(0))
            let other = try await PostgresDatabase()
            let node = try await RunningProcess.run(
                RepositoryPaths.program("posthornd"),
                [
                    "--store-url", other.address, "--cluster-address", "127.0.0.1:2197", "--listen", "127.0.0.1:0",
                    "--data-directory", files.path(of: "first"), "--admin-socket", files.path(of: "admin.sock"),
                ])
            #expect(node.exit == .code(78), "\(node)")
            #expect(node.errorOutput.contains("the database has no cluster"), "\(node)")
            #expect(node.errorOutput.contains("posthorn cluster init"), "\(node)")
            #expect(try await other.sql("SELECT count(*) FROM posthorn.secrets") == "0")
            let refused = try await initialize("first", url: other.address)
            #expect(refused.exit == .code(78) && refused.errorOutput.contains("move this file away"), "\(refused)")
            try FileManager.default.removeItem(atPath: files.path(of: "first/cluster.key"))
            let prepared = try await initialize("first", url: other.address)
            #expect(prepared.exit == .code(0) && prepared.output.contains("is ready for its first node"), "\(prepared)")
        }

        @Test func `a machine without the key of the cluster, or with an unusable one, is told to copy it`()
            async throws
        {
            #expect(try await initialize("first").exit == .code(0))
            let missing = try await initialize("second")
            #expect(missing.exit == .code(78), "\(missing)")
            #expect(missing.errorOutput.contains("second/cluster.key"), "\(missing)")
            #expect(missing.errorOutput.contains("Copy the file from another node"), "\(missing)")
            #expect(!FileManager.default.fileExists(atPath: files.path(of: "second/token.keys")))
            try files.write(String(repeating: "5a", count: 32) + "\n", to: "second/cluster.key")
            let other = try await initialize("second")
            #expect(other.exit == .code(78), "\(other)")
            #expect(other.errorOutput.contains("does not open the secrets of the cluster"), "\(other)")
            try files.write("x", to: "second/cluster.key")
            let broken = try await initialize("second")
            #expect(broken.exit == .code(78) && broken.errorOutput.contains("64 hexadecimal digits"), "\(broken)")
            let key = files.read("first/cluster.key")
            try FileManager.default.removeItem(atPath: files.path(of: "second/cluster.key"))
            try files.write(key, to: "second/cluster.key", permissions: 0o644)
            let open = try await initialize("second")
            #expect(open.exit == .code(78) && open.errorOutput.contains("chmod 600"), "\(open)")
        }

        @Test func `a configuration without PostgreSQL or without an address is refused`() async throws {
            let sqlite = try await initialize("first", url: "")
            #expect(sqlite.exit == .code(78) && sqlite.errorOutput.contains("Set url to the address"), "\(sqlite)")
            let alone = try await initialize("first", address: nil)
            #expect(alone.exit == .code(78) && alone.errorOutput.contains("[cluster] address"), "\(alone)")
            let unreachable = try await initialize("first", url: "postgresql://nobody@127.0.0.1:1/posthorn")
            #expect(unreachable.exit == .code(69), "\(unreachable)")
            #expect(unreachable.errorOutput.contains("Cannot use PostgreSQL"), "\(unreachable)")
            #expect(unreachable.errorOutput.hasSuffix("? Check the address, and that the server runs.\n"))
        }
    }
}
