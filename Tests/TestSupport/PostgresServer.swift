// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A PostgreSQL server of one test, with a UNIX socket, or also with TLS on a loopback port.
package final class PostgresServer: Sendable {
    private static let name = "server"

    private let keeper: PostgresKeeper
    private let port: Int
    private let usesTLS: Bool

    /// Creates a database cluster and starts its server.
    ///
    /// - Parameters:
    ///   - configuration: Lines for `postgresql.conf`.
    ///   - usesTLS: Whether `address` is that of a loopback port with TLS and a certificate for `localhost`.
    ///   - data: The data directory to create, for example on another disk; a temporary one when nil.
    ///   - environment: Variables of the server.
    /// - Throws: `MissingProgram` without the package `postgresql-15`; `UnexpectedOutput` when it does not start.
    package init(
        configuration: [String] = [], usesTLS: Bool = false, data: String? = nil, environment: [String: String] = [:]
    ) async throws {
        keeper = try await PostgresKeeper()
        try await keeper.setVariables(environment)
        if let data {
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
            try OrdinaryUser.own(data)
            try await keeper.run("ln -s '\(data)' \(Self.name)")
        }
        self.usesTLS = usesTLS
        // Without TLS, the port is only a part of the name of the socket.
        port = usesTLS ? try FreePort.find() : 5432
        try await keeper.run("make \(Self.name) \(port)")
        if usesTLS { try await keeper.run("secure \(Self.name)") }
        for line in configuration { try await keeper.run("echo \"\(line)\" >>\(Self.name)/postgresql.conf") }
        try await start()
    }

    /// The data directory, which belongs to another user.
    package var data: String { "\(keeper.directory)/\(Self.name)" }

    /// The address for `PostgresAddress`.
    package var address: String {
        guard usesTLS else { return PostgresProcesses.address(directory: keeper.directory, ports: [port]) }
        return "postgresql://postgres@localhost:\(port)/postgres?sslmode=verify-full"
            + "&sslrootcert=\(keeper.directory)/server/server.crt"
    }

    /// The address of the UNIX socket for another user.
    package func address(user: String) -> String {
        PostgresProcesses.address(directory: keeper.directory, ports: [port], user: user)
    }

    /// The address of the UNIX socket for one of the databases.
    func address(database: String) -> String {
        PostgresProcesses.address(directory: keeper.directory, ports: [port], database: database)
    }

    /// Starts the server after it was stopped or killed.
    package func start() async throws { try await keeper.run("launch \(Self.name)") }

    /// Stops the server without a checkpoint.
    package func stop() async throws { try await keeper.run("halt \(Self.name)") }

    /// Kills the server and all its processes.
    package func kill() async throws { try await PostgresProcesses(of: "\(keeper.directory)/\(Self.name)").kill() }

    /// Kills the server and all its processes after an event that makes its files unreadable.
    package func kill(after event: () throws -> Void) async throws {
        let processes = try PostgresProcesses(of: "\(keeper.directory)/\(Self.name)")
        try event()
        try await processes.kill()
    }

    /// Stops all processes of the server with SIGSTOP, or resumes them with SIGCONT.
    package func send(_ signal: Int32) throws {
        try PostgresProcesses(of: "\(keeper.directory)/\(Self.name)").send(signal)
    }

    /// Delays each flush of the server's files to the disk, until `end` of the returned object is called.
    package func slowDown(milliseconds: Int) async throws -> SlowDisk {
        let processes = try PostgresProcesses(of: "\(keeper.directory)/\(Self.name)")
        defer { processes.send(SIGCONT) }
        return try await SlowDisk(of: processes.identifiers, milliseconds: milliseconds)
    }

    /// Opens a transaction, which lasts until the input of the returned process ends.
    package func openTransaction() async throws -> RunningProcess {
        let process = try RunningProcess(
            try PostgresKeeper.programs() + "/psql",
            PostgresProcesses.arguments(directory: keeper.directory, port: port, database: "postgres"), hasInput: true)
        try process.write("BEGIN;\nSELECT 'opened';\n")
        _ = try await process.outputLine()
        return process
    }

    /// Runs SQL with `psql`, and returns its output.
    package func sql(_ text: String, database: String = "postgres") async throws -> String {
        try await PostgresProcesses.sql(text, directory: keeper.directory, port: port, database: database)
    }
}

/// The processes of a running server.
struct PostgresProcesses {
    private let main: Int32
    private let children: [Int32]

    /// Finds the processes of the server of a data directory, and stops the main process in between.
    ///
    /// - Parameter data: The data directory.
    /// - Throws: `SystemFailure` when the server does not run.
    init(of data: String) throws {
        let line = readText("\(data)/postmaster.pid").prefix { $0 != "\n" }
        guard let main = Int32(line) else { throw SystemFailure(call: "read \(data)/postmaster.pid", code: ENOENT) }
        // A stopped process starts no others.
        Glibc.kill(main, SIGSTOP)
        self.main = main
        children = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter {
            process in
            Self.parent(of: process) == main
        }
    }

    /// The IDs of all processes.
    var identifiers: [Int32] { [main] + children }

    /// Kills all processes, and waits until they have ended.
    func kill() async throws {
        for process in [main] + children { Glibc.kill(process, SIGKILL) }
        try await eventually("the server has ended") {
            ([main] + children).allSatisfy { Self.hasEnded($0) }
        }
    }

    /// Sends a signal to all processes; the main process gets SIGCONT afterwards unless the signal is SIGSTOP.
    func send(_ signal: Int32) {
        for process in [main] + children { Glibc.kill(process, signal) }
        if signal != SIGSTOP { Glibc.kill(main, SIGCONT) }
    }

    private static func fields(of process: Int32) -> [Substring] {
        // The second field is the name in parentheses.
        let status = readText("/proc/\(process)/stat")
        guard let end = status.lastIndex(of: ")") else { return [] }
        return status[status.index(after: end)...].split(separator: " ")
    }

    private static func parent(of process: Int32) -> Int32? {
        let fields = fields(of: process)
        return fields.count > 1 ? Int32(fields[1]) : nil
    }

    /// Returns whether a process has ended; its parent need not have collected it.
    private static func hasEnded(_ process: Int32) -> Bool {
        let fields = fields(of: process)
        return fields.isEmpty || fields[0] == "Z"
    }

    // MARK: Clients

    /// Returns the address of servers whose sockets are in one directory.
    static func address(
        directory: String, ports: [Int], user: String = "postgres", database: String = "postgres"
    ) -> String {
        let hosts = Array(repeating: directory, count: ports.count).joined(separator: ",")
        return "postgresql://\(user)@/\(database)?host=\(hosts)&port=\(ports.map(String.init).joined(separator: ","))"
    }

    /// Returns the arguments of `psql`.
    static func arguments(directory: String, port: Int, database: String) -> [String] {
        [
            "--host=\(directory)", "--port=\(port)", "--username=postgres", "--no-psqlrc", "--quiet", "--tuples-only",
            "--no-align", "--set=ON_ERROR_STOP=1", "--dbname=\(database)",
        ]
    }

    /// Runs SQL with `psql`, and returns its output without the last line feed.
    static func sql(
        _ text: String, directory: String, port: Int, database: String = "postgres"
    ) async throws -> String {
        let arguments = arguments(directory: directory, port: port, database: database) + ["--command=\(text)"]
        let result = try await RunningProcess.run(try PostgresKeeper.programs() + "/psql", arguments).succeeded()
        return result.output.hasSuffix("\n") ? String(result.output.dropLast()) : result.output
    }
}
