// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

extension ClusterSite {
    // MARK: Nodes

    func kill(node: Int) async throws {
        try await note("kill \(Self.names[node])")
        try await nodes[node].process.killNow()
    }

    /// Starts a node, again if it cannot use PostgreSQL yet, as its service manager does.
    func start(node: Int) async throws {
        try await note("start \(Self.names[node])")
        do {
            try await nodes[node].start()
        } catch let error as UnexpectedOutput where error.result.exit == .code(69) {
            try await note("start \(Self.names[node]) again after \(error)")
            try await nodes[node].start()
        }
        try await reportProcess(of: node)
    }

    /// Stops a node with SIGTERM.
    func stop(node: Int) async throws {
        try await note("end \(Self.names[node])")
        nodes[node].process.now.send(SIGTERM)
        try await nodes[node].process.now.waitForExit()
    }

    /// Drains a node until it has no devices, or until a time has passed.
    func drain(node: Int, atMost duration: Duration) async throws {
        try await note("drain \(Self.names[node])")
        let seconds = max(1, Int(duration / .seconds(1)))
        let answer = try await posthorn(["cluster", "drain", Self.names[node], "--timeout", "\(seconds)s"], at: node)
        try await note("drain: \(answer)")
    }

    func undrain(node: Int) async throws {
        let answer = try await posthorn(["cluster", "undrain", Self.names[node]], at: node)
        try await note("undrain \(Self.names[node]): \(answer)")
    }

    /// Starts another process of a node, with the same settings and other data.
    func startAgain(node: Int) async throws -> CurrentProcess {
        try await note("start \(Self.names[node]) again")
        let server = try await InstalledServer(options: options[node])
        return server.process
    }

    /// Stops a node with SIGSTOP.
    func freeze(node: Int) async throws {
        try await note("stop \(Self.names[node])")
        try await nodes[node].process.now.freeze()
    }

    func thaw(node: Int) async throws {
        try await note("continue \(Self.names[node])")
        nodes[node].process.now.send(SIGCONT)
    }

    // MARK: PostgreSQL

    /// The servers that are standbys.
    var standbys: [Int] { [0, 1, 2].filter { $0 != primary } }

    func kill(server: Int) async throws {
        try await note("kill PostgreSQL \(server), \(server == primary ? "the primary" : "a standby")")
        try await trio.kill(server)
        try await report(server: server, isListening: false)
    }

    func start(server: Int) async throws {
        try await note("start PostgreSQL \(server)")
        try await trio.start(server)
        try await report(server: server, isListening: true)
    }

    /// Lets the proxies of a server refuse connections, as the server does; libpq then tries the next server.
    private func report(server: Int, isListening: Bool) async throws {
        let _: Done = try await program.ask(Listening(server: server, isListening: isListening))
    }

    func freeze(server: Int) async throws {
        try await note("stop PostgreSQL \(server), \(server == primary ? "the primary" : "a standby")")
        try trio.send(SIGSTOP, to: server)
    }

    func thaw(server: Int) async throws {
        try await note("continue PostgreSQL \(server)")
        try trio.send(SIGCONT, to: server)
    }

    /// Promotes the standby that has everything, after the primary was killed or stopped; returns the former primary.
    @discardableResult
    func promoteRightStandby() async throws -> Int {
        let best = try await trio.mostAdvanced(of: standbys)
        return try await promote(best)
    }

    /// Stops the primary cleanly, and promotes a standby; returns the former primary.
    func switchOver() async throws -> Int {
        let former = primary
        try await note("end PostgreSQL \(former), the primary")
        try await trio.stopCleanly(former)
        try await report(server: former, isListening: false)
        return try await promoteRightStandby()
    }

    /// Promotes a standby, which the other one follows; returns the former primary.
    private func promote(_ standby: Int) async throws -> Int {
        let (former, other) = (primary, 3 - primary - standby)
        try await note("promote PostgreSQL \(standby)")
        try await trio.promote(standby, other: other)
        primary = standby
        return former
    }

    /// Promotes a standby that has no other standby.
    func promoteAlone(server: Int) async throws {
        try await note("promote PostgreSQL \(server), which has no standby")
        try await trio.promote(server, other: nil)
        primary = server
    }

    /// Makes a killed server a standby of the primary, with a new copy of its data.
    func rejoin(server: Int) async throws { try await rejoin(servers: [server]) }

    func rejoin(servers: [Int]) async throws {
        for server in servers {
            try await trio.join(server, primary: primary)
            try await report(server: server, isListening: true)
        }
        try await trio.waitForStandbys(2, of: primary)
        try await note("PostgreSQL \(servers) follows \(primary)")
    }

    // MARK: Everything

    /// Kills all nodes and all servers.
    func killEverything() async throws {
        for node in nodes.indices { try await kill(node: node) }
        for server in [primary] + standbys { try await kill(server: server) }
    }

    /// Starts all servers, then all nodes; returns the time at which PostgreSQL served.
    func startEverything() async throws -> Double {
        for server in [primary] + standbys { try await start(server: server) }
        try await trio.waitForStandbys(2, of: primary)
        let moment = try await note("PostgreSQL serves")
        for node in nodes.indices { try await start(node: node) }
        return moment
    }

    // MARK: Links

    /// The directions of a cut between two ends.
    static func directions(_ first: String, _ second: String) -> [[String]] { [[first, second], [second, first]] }

    /// The directions between a node and all other nodes.
    static func directions(ofNode node: Int) -> [[String]] {
        names.indices.filter { $0 != node }.flatMap { directions(names[node], names[$0]) }
    }

    /// The directions between a node and PostgreSQL.
    static func directionsToDatabase(ofNode node: Int) -> [[String]] { directions(names[node], database) }

    /// Cuts connections in some directions, as pairs of the sender and the receiver.
    func cut(_ directions: [[String]]) async throws {
        try await note("cut \(directions.map { $0.joined(separator: "→") }.joined(separator: ", "))")
        let _: Done = try await program.ask(Cut(op: "cut", directions: directions, resets: false))
    }

    /// Ends a cut.
    ///
    /// - Parameters:
    ///   - directions: The directions.
    ///   - resets: Whether the connections are reset; otherwise the data that was held back arrives.
    /// - Throws: `ProviderFailure`.
    func heal(_ directions: [[String]], resets: Bool) async throws {
        try await note("heal\(resets ? ", with resets" : "")")
        let _: Done = try await program.ask(Cut(op: "heal", directions: directions, resets: resets))
    }

    // MARK: Administrators

    /// Returns the output of `posthorn cluster status` at a node, as JSON.
    func status(of node: Int) async throws -> String {
        try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), ["cluster", "status", "--json"],
            environment: ["POSTHORN_ADMIN_SOCKET": nodes[node].admin.path]
        ).output
    }

    /// Moves slots to a shard, and returns what the command prints.
    func moveSlots(_ count: Int, to shard: Int, at node: Int) async throws -> String {
        try await note("move \(count) slots to shard \(shard) at \(Self.names[node])")
        return try await posthorn(["cluster", "move-slots", "--to", "\(shard)", "\(count)"], at: node)
    }

    /// Runs a command at a node, and returns what it prints, whether it succeeds or not.
    private func posthorn(_ arguments: [String], at node: Int) async throws -> String {
        let result = try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), arguments,
            environment: ["POSTHORN_ADMIN_SOCKET": nodes[node].admin.path], within: .seconds(240))
        return result.output + result.errorOutput
    }

    /// Revokes a key at a node; the program checks that it is refused everywhere afterwards.
    func revokeKey(at node: Int) async throws { try await administer("revoke", at: node) }

    /// Removes an app at a node, and adds it again; the program checks that it is refused everywhere meanwhile.
    func removeApp(at node: Int) async throws { try await administer("remove_app", at: node) }

    private func administer(_ operation: String, at node: Int) async throws {
        try await note("\(operation) at \(Self.names[node])")
        let outcome = try await program.ask(
            Administration(op: operation, node: node), within: .seconds(240), as: Outcome.self)
        try await note("\(operation): \(outcome.done ? "done" : outcome.error ?? "failed")")
    }
}

private struct Cut: Encodable {
    let op: String
    let directions: [[String]]
    let resets: Bool
}

private struct Listening: Encodable {
    var op = "listening"
    let server: Int
    let isListening: Bool

    enum CodingKeys: String, CodingKey {
        case op, server
        case isListening = "is_listening"
    }
}

private struct Administration: Encodable {
    let op: String
    let node: Int
}

private struct Outcome: Decodable {
    let done: Bool
    let error: String?
}
