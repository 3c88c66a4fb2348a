// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A PostgreSQL primary with two standbys, of which one must confirm each commit (`ANY 1`).
///
/// Servers are counted from 0, which is the first primary. They have UNIX sockets only.
package final class PostgresTrio: Sendable {
    private static let ports = [5432, 5433, 5434]
    private static let names = ["s0", "s1", "s2"]

    private let keeper: PostgresKeeper

    /// Creates and starts the three servers, and waits until a standby is synchronous.
    ///
    /// - Parameter environment: The environment variables of the servers.
    /// - Throws: `MissingProgram` without the package `postgresql-15`; `UnexpectedOutput` when one does not start.
    package init(environment: [String: String] = [:]) async throws {
        keeper = try await PostgresKeeper()
        try await keeper.setVariables(environment)
        try await keeper.run("make s0 \(Self.ports[0]) && launch s0")
        for standby in [1, 2] { try await join(standby, primary: 0) }
        // Without standbys, the first commit would already wait.
        try await requireStandby(on: 0)
    }

    /// The address of all servers for `PostgresAddress`.
    package var address: String { PostgresProcesses.address(directory: keeper.directory, ports: Self.ports) }

    /// The paths of the UNIX sockets of all servers.
    package var sockets: [String] { Self.ports.map { "\(keeper.directory)/.s.PGSQL.\($0)" } }

    /// The address of all servers for a client whose connections go through other sockets with the same names.
    package func address(socketDirectory: String) -> String {
        PostgresProcesses.address(directory: socketDirectory, ports: Self.ports)
    }

    /// The address of one server.
    package func address(of server: Int, user: String = "postgres") -> String {
        PostgresProcesses.address(directory: keeper.directory, ports: [Self.ports[server]], user: user)
    }

    /// Starts a server after it was stopped or killed; a standby follows its last primary.
    package func start(_ server: Int) async throws { try await keeper.run("launch \(Self.names[server])") }

    /// Stops a server without a checkpoint.
    package func stop(_ server: Int) async throws { try await keeper.run("halt \(Self.names[server])") }

    /// Stops a primary once its standbys have received everything.
    package func stopCleanly(_ server: Int) async throws {
        try await keeper.run("pg_ctl --pgdata=\(Self.names[server]) --mode=fast --wait stop")
    }

    /// Kills a server and all its processes, as the loss of its machine does.
    package func kill(_ server: Int) async throws { try await processes(of: server).kill() }

    /// Stops all processes of a server with SIGSTOP, or resumes them with SIGCONT.
    package func send(_ signal: Int32, to server: Int) throws { try processes(of: server).send(signal) }

    /// Promotes a standby, which the other one then follows.
    ///
    /// - Parameters:
    ///   - standby: The new primary.
    ///   - other: The other standby; nil if it does not run.
    /// - Throws: `UnexpectedOutput` when the server does not become a primary.
    package func promote(_ standby: Int, other: Int?) async throws {
        try await keeper.run("pg_ctl --pgdata=\(Self.names[standby]) --wait promote")
        guard let other else { return }
        // ALTER SYSTEM is refused in a transaction, which psql would make of two statements.
        _ = try await sql("ALTER SYSTEM SET primary_conninfo = '\(connection(of: other, to: standby))'", on: other)
        _ = try await sql("SELECT pg_reload_conf()", on: other)
    }

    /// Makes a stopped or new server a standby of a primary, with a new copy of its data.
    package func join(_ server: Int, primary: Int) async throws {
        let (name, port) = (Self.names[server], Self.ports[server])
        try await keeper.run("copy \(name) \(port) \(Self.ports[primary]) && launch \(name)")
    }

    /// Returns the running standby that has received the most, once no standby receives anything more.
    ///
    /// Only this one has everything that was committed, and only if no other one is ahead of it can they follow it.
    ///
    /// - Parameter standbys: The running standbys.
    /// - Returns: The number of the server.
    /// - Throws: `UnexpectedOutput` when one does not answer.
    package func mostAdvanced(of standbys: [Int]) async throws -> Int {
        var earlier: [Int64] = []
        while true {
            var positions: [Int64] = []
            for standby in standbys {
                let text = try await sql("SELECT (pg_last_wal_receive_lsn() - '0/0')::bigint", on: standby)
                positions.append(Int64(text) ?? -1)
            }
            if positions == earlier, let most = positions.max(), let index = positions.firstIndex(of: most) {
                return standbys[index]
            }
            earlier = positions
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Receives the write-ahead log of a server, as a tool for backups does, until the returned process is killed.
    package func receiveLog(from server: Int, into folder: TemporaryDirectory) throws -> RunningProcess {
        try RunningProcess(
            try PostgresKeeper.programs() + "/pg_receivewal",
            [
                "--host=\(keeper.directory)", "--port=\(Self.ports[server])", "--username=postgres", "--no-sync",
                "--directory=\(folder.path)",
            ])
    }

    /// Runs SQL on one server with `psql`, and returns its output.
    package func sql(_ text: String, on server: Int) async throws -> String {
        try await PostgresProcesses.sql(text, directory: keeper.directory, port: Self.ports[server])
    }

    /// Waits until a primary has this number of synchronous standbys.
    package func waitForStandbys(_ count: Int, of primary: Int) async throws {
        try await eventually("\(count) standbys are connected") {
            let query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'"
            return try await sql(query, on: primary) == "\(count)"
        }
    }

    /// Lets each commit wait for one standby, also after a promotion.
    private func requireStandby(on primary: Int) async throws {
        for server in [0, 1, 2] {
            _ = try await sql(
                "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (\(Self.names.joined(separator: ", ")))'",
                on: server)
            _ = try await sql("SELECT pg_reload_conf()", on: server)
        }
        try await waitForStandbys(2, of: primary)
    }

    private func connection(of server: Int, to primary: Int) -> String {
        "host=\(keeper.directory) port=\(Self.ports[primary]) user=postgres application_name=\(Self.names[server])"
    }

    private func processes(of server: Int) throws -> PostgresProcesses {
        try PostgresProcesses(of: "\(keeper.directory)/\(Self.names[server])")
    }
}
