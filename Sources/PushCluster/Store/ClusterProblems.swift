// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushPostgres

/// Finds the problems of a cluster, including those that matter only after the next loss of a machine.
struct ClusterProblems {
    /// The age of a transaction in seconds above which PostgreSQL keeps too many deleted rows.
    private static let transactionSecondsMax: Int64 = 600

    /// The name of the node that looks for problems.
    var node: String
    /// The reason why the node cannot use PostgreSQL; nil while it can.
    var connectionProblem: String?
    var hasLease: Bool
    var hasLinks: Bool
    /// The shards to which connections can be opened; `connectionProblem` describes the others.
    var reachableShards: Set<Int> = [0]
    /// The time by which numbers are ahead of PostgreSQL's clock, in milliseconds; 0 unless it delays answers.
    var numbersAheadMilliseconds: Int64 = 0
    var nodes: [ClusterAPI.Node]
    /// The states of the shards; nil for those that are not known.
    var servers: [ServerState?]

    /// The problems in the order of their importance.
    var list: [ClusterAPI.Problem] {
        var problems: [ClusterAPI.Problem] = []
        func add(_ code: ClusterAPI.ProblemCode, _ text: String) { problems.append(.init(code: code, text: text)) }
        if let connectionProblem {
            add(.notConnected, "\(node) has no connection to PostgreSQL: \(connectionProblem)")
        } else if !hasLease, ownClock != .suspends {
            add(.noLease, "PostgreSQL did not commit for \(node) in time. Check its primary and its standbys.")
        }
        problems += serverProblems + addressProblems
        // Without PostgreSQL, the heartbeats of other nodes are not known.
        if hasLease { problems += nodeProblems }
        for other in nodes where other.isLive && other.isLinkUp == false && !sharesAddress(other) {
            let address = other.address ?? "its address"
            add(
                .linkDown,
                "\(node) has no link to \(other.name). If \(other.name) runs, check its [cluster] address, and the network "
                    + "to \(address).")
        }
        for other in nodes {
            guard let difference = other.clockDifferenceMilliseconds else { continue }
            let agreement = ClockAgreement(differenceMilliseconds: difference)
            guard agreement != .agrees else { continue }
            let effect = agreement == .suspends ? ", so \(other.name) neither accepts nor delivers" : ""
            add(
                .clockDiffers,
                "The clock of \(other.name) differs from PostgreSQL's by \(difference) ms\(effect). "
                    + "Synchronize both by NTP.")
        }
        if numbersAheadMilliseconds > 0 {
            add(
                .numbersAhead,
                "Numbers of notifications are ahead of PostgreSQL's clock by \(numbersAheadMilliseconds / 1_000) s, "
                    + "because a clock was ahead. Until the clock has passed them, answers for devices that are away "
                    + "take some seconds. Synchronize the clocks of PostgreSQL's machines and of the nodes by NTP.")
        }
        return problems
    }

    private var ownClock: ClockAgreement? {
        nodes.first { $0.name == node }?.clockDifferenceMilliseconds.map { ClockAgreement(differenceMilliseconds: $0) }
    }

    private var nodeProblems: [ClusterAPI.Problem] {
        var problems: [ClusterAPI.Problem] = []
        for other in nodes where !other.isLive {
            problems.append(
                .init(
                    code: .nodeNotLive,
                    text: "\(other.name) sends no heartbeat. Start it, or run 'posthorn cluster remove \(other.name)'.")
            )
        }
        let serving = nodes.count { $0.isLive && $0.draining == .no }
        if serving < 2 {
            let text =
                serving == 1
                ? "Only one node serves devices, so its loss interrupts everything." : "No node serves devices."
            let isDrained = nodes.contains { $0.isLive && $0.draining != .no }
            let remedy =
                isDrained
                ? "Start another one, or run 'posthorn cluster undrain'."
                : hasLinks ? "Start another one." : "Set [cluster] address, then start another one."
            problems.append(.init(code: .tooFewNodes, text: "\(text) \(remedy)"))
        }
        return problems
    }

    private var serverProblems: [ClusterAPI.Problem] {
        servers.enumerated().flatMap { number, server in
            var problems: [ClusterAPI.Problem] = []
            if let server, reachableShards.contains(number) {
                problems = self.problems(of: server)
            } else if reachableShards.contains(number) {
                problems = [.init(code: .noAnswer, text: "PostgreSQL does not answer \(node). Check its primary.")]
            }
            let absent = absentNodes(ofShard: number)
            if !absent.isEmpty {
                problems.append(
                    .init(
                        code: .shardNotUsed,
                        text: "\(absent.joined(separator: " and ")) \(absent.count == 1 ? "does" : "do") not use it. "
                            + "Set [cluster] shards as on other nodes, restart, and check the network to the database.")
                )
            }
            guard servers.count > 1 else { return problems }
            return problems.map { problem in
                var problem = problem
                problem.text = "Shard \(number): \(problem.text)"
                return problem
            }
        }
    }

    /// Returns the names of the live nodes that send no heartbeat to a shard; none for shard 0.
    func absentNodes(ofShard number: Int) -> [String] {
        guard number > 0, servers.indices.contains(number), let server = servers[number] else { return [] }
        return nodes.filter { $0.isLive && !server.liveNodes.contains($0.name) }.map(\.name)
    }

    private func sharesAddress(_ node: ClusterAPI.Node) -> Bool {
        nodes.contains { $0.isLive && $0.name != node.name && $0.address != nil && $0.address == node.address }
    }

    private var addressProblems: [ClusterAPI.Problem] {
        let byAddress = Dictionary(grouping: nodes.filter { $0.isLive && $0.address != nil }, by: \.address)
        return byAddress.values.filter { $0.count > 1 }.map { same in
            let names = same.map(\.name)
            return ClusterAPI.Problem(
                code: .sameAddress,
                text: "\(names.joined(separator: " and ")) have the same address. Correct [cluster] address of "
                    + "\(names.count == 2 ? "one" : "all but one").")
        }.sorted { $0.text < $1.text }
    }

    private func problems(of server: ServerState) -> [ClusterAPI.Problem] {
        var problems = server.facts.findings.map { ClusterAPI.Problem(code: $0.problemCode, text: "\($0)") }
        // With synchronous_mode of Patroni, one standby is synchronous, and another one replaces it if it is lost.
        if server.facts.synchronousStandbyCount == 1, server.facts.asynchronousStandbyCount == 0 {
            problems.append(
                .init(
                    code: .oneConnectedStandby,
                    text: "Only one standby of PostgreSQL is connected, so no commit completes without it. "
                        + "Start another standby."))
        }
        if let seconds = server.oldestTransactionSeconds, seconds > Self.transactionSecondsMax {
            problems.append(
                .init(
                    code: .oldTransaction,
                    text: "A transaction in PostgreSQL has been open for \(seconds / 60) minutes, so deleted rows "
                        + "are kept. End it: see pg_stat_activity and pg_prepared_xacts."))
        }
        return problems + server.oldRetentions.map(\.problem)
    }
}

extension PostgresRowRetention {
    /// The problem and the action that it requires.
    fileprivate var problem: ClusterAPI.Problem {
        let effect = "keeps the rows that the last \(transactionCount) transactions deleted"
        switch owner {
        case .slot(let name, let isActive):
            let remove = "run SELECT pg_drop_replication_slot('\(name)')."
            let remedy =
                isActive
                ? "End the old transactions of its receiver, or stop the receiver and \(remove)"
                : "It has no receiver. Start the receiver, or \(remove)"
            return .init(
                code: .oldSlot, text: "The replication slot \(name) of PostgreSQL \(effect). \(remedy)")
        case .standby(let name):
            return .init(
                code: .oldFeedback,
                text: "The standby \(name) of PostgreSQL \(effect). End its old transactions, or set "
                    + "hot_standby_feedback = off on it.")
        }
    }
}

extension PostgresFinding {
    var problemCode: ClusterAPI.ProblemCode {
        switch self {
        case .oldVersion: .oldVersion
        case .standby: .standby
        case .noFsync: .noFsync
        case .noFullPageWrites: .noFullPageWrites
        case .noSynchronousStandby: .noSynchronousStandby
        case .noConnectedStandby: .noConnectedStandby
        case .hiddenStandbys: .hiddenStandbys
        case .weakCommit: .weakCommit
        case .noTLS: .noTLS
        }
    }
}
