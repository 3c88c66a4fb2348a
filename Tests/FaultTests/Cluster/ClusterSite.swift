// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing

/// Three nodes on a primary with two standbys, and the program that sends, receives and checks: python/cluster.py.
///
/// All connections between nodes, and between nodes and PostgreSQL, go through proxies of that program. Nodes and servers
/// are counted from 0.
final class ClusterSite: Sendable {
    /// The number and behavior of devices and senders.
    struct Load: Encodable {
        var devices = 20
        /// The number of devices that stay away until the end.
        var away = 0
        var senders = 24
        /// The average pause of a sender between two notifications, in seconds.
        var pause = 0.15
        /// The average time for which a device stays at a node, in seconds.
        var stay = 8.0
    }

    static let names = ["n1", "n2", "n3"]
    /// The name of PostgreSQL in the directions of a cut.
    static let database = "database"

    let trio: PostgresTrio
    let extras: ClusterExtras?
    let nodes: [InstalledServer]
    let seed: UInt64
    let program: ScriptedProcess
    private let files: TemporaryDirectory
    let metricsPorts: [Int]
    /// The options of each node.
    let options: [[String]]
    // Ordered with nothing else: one test changes it.
    private let currentPrimary = Atomic(0)

    /// The server that is the primary.
    var primary: Int {
        get { currentPrimary.load(ordering: .relaxed) }
        set { currentPrimary.store(newValue, ordering: .relaxed) }
    }

    /// Starts everything, and waits until each node has accepted a notification.
    ///
    /// - Parameters:
    ///   - load: The devices and senders.
    ///   - extras: Shard 1, and a clock of PostgreSQL that a test sets.
    ///   - seed: The seed of their random choices.
    /// - Throws: The error of one of the programs.
    init(_ load: Load = Load(), extras: ClusterExtras? = nil, seed: UInt64 = Patience.seed) async throws {
        (self.seed, self.extras) = (seed, extras)
        trio = try await PostgresTrio(environment: extras?.databaseClock.environment ?? [:])
        files = try TemporaryDirectory()
        program = try ScriptedProcess(
            path: "FaultTests/python/cluster.py",
            importingFrom: ["ConformanceTests/python", "EndToEndTests/Providers"])
        var nodes: [InstalledServer] = []
        var (metricsPorts, options): ([Int], [[String]]) = ([], [])
        for (index, name) in Self.names.enumerated() {
            let (port, metricsPort) = (try FreePort.find(), try FreePort.find())
            let directory = try files.makeDirectory(name)
            let linkPort = try await program.ask(
                Proxy(name: name, port: port, postgresSockets: trio.sockets, directory: directory), as: Port.self
            ).port
            options.append([
                "--store-url", trio.address(socketDirectory: directory), "--cluster-node", name,
                "--cluster-address", "127.0.0.1:\(linkPort)", "--cluster-key-file", files.path(of: "cluster.key"),
                "--log-level", "info", "--pending-per-topic", "100000", "--pending-per-device", "100000",
            ])
            if let extras { options[index] += ["--cluster-shards", extras.shard.address] }
            let metrics = ["--metrics-listen", "127.0.0.1:\(metricsPort)"]
            nodes.append(try await InstalledServer(options: options[index] + metrics, port: port))
            metricsPorts.append(metricsPort)
        }
        (self.nodes, self.options) = (nodes, options)
        self.metricsPorts = metricsPorts
        for node in Self.names.indices { try await reportProcess(of: node) }
        let _: Done = try await program.ask(Start(nodes: nodes, seed: seed, load), within: .seconds(120))
        try await waitUntilServing()
    }

    /// Tells the program which process a node has, after it was started.
    func reportProcess(of node: Int) async throws {
        let identifier = Int(nodes[node].process.now.identifier)
        let _: Done = try await program.ask(Process(name: Self.names[node], identifier: identifier))
    }

    /// Runs SQL on the primary in the schema of the tables, and returns its output.
    func sql(_ text: String) async throws -> String {
        try await trio.sql("SET search_path = posthorn; \(text)", on: primary)
    }

    /// Records a fault in the history; returns the time.
    @discardableResult
    func note(_ text: String) async throws -> Double {
        try await program.ask(["op": "note", "text": text], as: Moment.self).time
    }

    // MARK: Waiting

    /// Waits until each node has accepted a notification that was sent from now on; returns the time in seconds.
    @discardableResult
    func waitUntilServing() async throws -> Double {
        let serving = try await program.ask(["op": "serving"], within: .seconds(120), as: Serving.self)
        return serving.seconds
    }

    /// Waits until the cluster has accepted some more notifications.
    func waitForAccepted(_ count: Int) async throws {
        let _: Done = try await program.ask(Accepted(count: count), within: .seconds(120))
    }

    // MARK: Checking

    /// Returns how the cluster served between two times; nil for now.
    func figures(since: Double, until: Double? = nil) async throws -> ClusterFigures {
        try await program.ask(Figures(since: since, until: until))
    }

    /// Lets all devices receive everything, and returns the promises that were not kept.
    ///
    /// - Parameter checksTables: Whether to compare the tables and the nodes with the devices, too.
    /// - Returns: The broken promises.
    /// - Throws: The error of one of the programs.
    func conclude(checksTables: Bool = true) async throws -> ClusterReport {
        let settled = try await program.ask(["op": "settle"], within: .seconds(180), as: Settled.self)
        var problems: [String] = []
        for check in checksTables ? [checkPending, checkHosts, checkStreams] : [] {
            do {
                try await check(settled.nodes)
            } catch let error as DeadlinePassed {
                problems.append(error.description)
            }
        }
        var report = try await program.ask(["op": "report"], within: .seconds(120), as: ClusterReport.self)
        let _: Done = try await program.ask(["op": "close"], within: .seconds(60))
        report.problems += problems
        report.seed = seed
        return report
    }

    /// Checks that no slot moves, and that no row waits that a device should have received.
    private func checkPending(_ nodes: [String: String?]) async throws {
        var found: [String] = []
        try await eventually("no slot moves", evidence: { "\(found)" }) {
            found = [try await sql("SELECT count(*) FROM slots WHERE moving_to IS NOT NULL")]
            return found == ["0"]
        }
        try await eventually("no row waits", evidence: { "\(found)" }) {
            found = try await rows { slots in
                """
                SELECT p.device, p.id FROM pending p JOIN registrations r ON r.device = p.device AND r.topic = p.topic
                WHERE live = 1 AND coalesce(expires_at_ms > extract(epoch FROM now()) * 1000, true)
                AND p.device >> 53 IN (\(slots)) LIMIT 10
                """
            }
            return found.isEmpty
        }
    }

    /// Checks that the table `hosts` names the node to which each device is connected.
    private func checkHosts(_ nodes: [String: String?]) async throws {
        let expected = Set(nodes.map { "\($0.key)|\($0.value ?? "none")" })
        var found: Set<String> = []
        try await eventually("hosts agrees with the devices", evidence: { "\(found) instead of \(expected)" }) {
            let rows = try await rows { slots in
                """
                SELECT lpad(to_hex(h.device), 16, '0'), n.name FROM hosts h JOIN nodes n ON n.instance = h.instance
                WHERE h.device >> 53 IN (\(slots))
                """
            }
            found = Set(rows)
            return found == expected
        }
    }

    /// Returns the rows of a query from all databases; the query gets the slots of each database.
    private func rows(_ query: (String) -> String) async throws -> [String] {
        var rows: [String] = []
        for shard in extras == nil ? [0] : [0, 1] {
            let slots = try await sql(
                "SELECT coalesce(string_agg(slot::text, ','), '-1') FROM slots WHERE shard = \(shard)")
            let output =
                if shard == 1, let extras { try await extras.sql(query(slots)) } else { try await sql(query(slots)) }
            rows += output.split(separator: "\n").map(String.init)
        }
        return rows
    }

    /// Checks that each node has a stream for each device that is connected to it, and no other one.
    private func checkStreams(_ nodes: [String: String?]) async throws {
        for (index, name) in Self.names.enumerated() {
            let expected = nodes.values.count { $0 == name }
            var found: Int?
            try await eventually("\(name) has \(expected) streams", evidence: { "\(found ?? -1)" }) {
                found = try await metric("posthorn_devices_connected", at: index)
                return found == expected
            }
        }
    }
}

// MARK: Messages

/// The promises that a run did not keep.
struct ClusterReport: Decodable {
    /// The number of notifications that were sent.
    let sent: Int
    /// The numbers of notifications by their ends.
    let ends: [String: Int]
    /// The number of broken promises that the program found.
    let count: Int
    /// The first broken promises, with their history.
    var problems: [String]
    var seed: UInt64?

    /// Records each broken promise as an issue, with the seed that repeats the choices of the run.
    func check(sourceLocation: SourceLocation = #_sourceLocation) {
        for problem in problems {
            Issue.record("POSTHORN_TEST_SEED=\(seed ?? 0): \(problem)", sourceLocation: sourceLocation)
        }
        #expect(count <= problems.count, "\(count) problems in all", sourceLocation: sourceLocation)
        #expect(ends["shown", default: 0] > 0, "\(ends)", sourceLocation: sourceLocation)
    }
}

/// How a cluster served for some time; all times are in seconds.
struct ClusterFigures: Decodable {
    /// The figures of one node.
    struct Node: Decodable {
        let accepted: Int
        /// The number of answers with status 503.
        let refused: Int
        let longestPause: Double
        /// The time of the last answer with status 200.
        let lastAccepted: Double
        let lastDelivered: Double
    }

    let accepted: Int
    let refused: Int
    /// The number of notifications whose answers did not arrive.
    let doubtful: Int
    /// Quantiles of the time until an answer with status 200.
    let milliseconds: [String: Double]
    /// The longest time without an answer with status 200 at any node.
    let longestPause: Double
    /// Quantiles of the time that a device needed for a new stream after it lost one.
    let streamPauses: [String: Double]
    let nodes: [String: Node]
}

private struct Proxy: Encodable {
    var op = "proxy"
    let name: String
    let port: Int
    let postgresSockets: [String]
    let directory: String

    enum CodingKeys: String, CodingKey {
        case op, name, port, directory
        case postgresSockets = "postgres_sockets"
    }
}

private struct Port: Decodable { let port: Int }

private struct Process: Encodable {
    var op = "process"
    let name: String
    let identifier: Int
}

private struct Start: Encodable {
    struct Node: Encodable {
        let name: String
        let port: Int
        let caFile: String
        let adminSocket: String

        enum CodingKeys: String, CodingKey {
            case name, port
            case caFile = "ca_file"
            case adminSocket = "admin_socket"
        }
    }

    let nodes: [Node]
    let seed: UInt64
    let load: ClusterSite.Load

    init(nodes: [InstalledServer], seed: UInt64, _ load: ClusterSite.Load) {
        self.nodes = zip(ClusterSite.names, nodes).map { name, server in
            Node(name: name, port: server.port, caFile: server.authorityFile, adminSocket: server.admin.path)
        }
        self.seed = seed
        self.load = load
    }

    func encode(to encoder: any Encoder) throws {
        try load.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("start", forKey: .op)
        try container.encode(nodes, forKey: .nodes)
        try container.encode(seed, forKey: .seed)
    }

    private enum CodingKeys: String, CodingKey {
        case op, nodes, seed
    }
}

private struct Moment: Decodable { let time: Double }

private struct Serving: Decodable { let seconds: Double }

private struct Accepted: Encodable {
    var op = "accepted"
    let count: Int
}

private struct Figures: Encodable {
    var op = "figures"
    let since: Double
    let until: Double?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(op, forKey: .op)
        try container.encode(since, forKey: .since)
        try container.encode(until, forKey: .until)
    }

    private enum CodingKeys: String, CodingKey {
        case op, since, until
    }
}

private struct Settled: Decodable {
    /// The name of the node to which each device is connected, by the device's ID.
    let nodes: [String: String?]
}
