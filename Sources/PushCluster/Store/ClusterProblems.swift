// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushPostgres

/// Finds the problems of a cluster, also those that matter only after the next loss of a machine.
struct ClusterProblems {
    /// The age of a transaction in seconds above which PostgreSQL keeps too many deleted rows.
    private static let transactionSecondsMax: Int64 = 600

    /// The name of the node that looks.
    var node: String
    /// The reason why the node cannot use PostgreSQL; nil while it can.
    var connectionProblem: String?
    var hasLease: Bool
    var hasLinks: Bool
    /// The time by which numbers are ahead of PostgreSQL's clock, in milliseconds; 0 unless it delays answers.
    var numbersAheadMilliseconds: Int64 = 0
    var nodes: [ClusterAPI.Node]
    /// The states of the shards; nil for those that are not known.
    var servers: [ServerState?]

    /// The problems in the order of their importance.
    var list: [ClusterAPI.Problem] {
        var problems: [ClusterAPI.Problem] = []
        func add(_ code: String, _ text: String) { problems.append(.init(code: code, text: text)) }
        if let connectionProblem {
            let end = connectionProblem.last.map { ".?!".contains($0) } ?? false ? "" : "."
            add(
                "not-connected",
                "\(node) has no connection to PostgreSQL: \(connectionProblem)\(end) Check that it runs.")
        } else if !hasLease, ownClock != .suspends {
            add("no-lease", "PostgreSQL did not commit for \(node) in time. Check its primary and its standbys.")
        }
        problems += serverProblems
        // Without PostgreSQL, the heartbeats of other nodes are not known.
        if hasLease { problems += nodeProblems }
        for other in nodes where other.isLive && other.isLinkUp == false {
            add(
                "link-down",
                "\(node) has no link to \(other.name). Check the network to \(other.address ?? "its address").")
        }
        for other in nodes {
            guard let difference = other.clockDifferenceMilliseconds else { continue }
            let agreement = ClockAgreement(differenceMilliseconds: difference)
            guard agreement != .agrees else { continue }
            let effect = agreement == .suspends ? ", so \(other.name) neither accepts nor delivers" : ""
            add(
                "clock-differs",
                "the clock of \(other.name) differs from PostgreSQL's by \(difference) ms\(effect). "
                    + "Synchronize both by NTP.")
        }
        if numbersAheadMilliseconds > 0 {
            add(
                "numbers-ahead",
                "numbers of notifications are ahead of PostgreSQL's clock by \(numbersAheadMilliseconds / 1_000) s, "
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
                    code: "node-not-live",
                    text: "\(other.name) sends no heartbeat. Start it, or run 'posthorn cluster remove \(other.name)'.")
            )
        }
        let serving = nodes.count { $0.isLive && $0.draining == .no }
        if serving < 2 {
            let text = serving == 1 ? "only one node serves devices" : "no node serves devices"
            let remedy = hasLinks ? "Start another one." : "Set [cluster] address, then start another one."
            problems.append(.init(code: "too-few-nodes", text: "\(text), so its loss interrupts everything. \(remedy)"))
        }
        return problems
    }

    private var serverProblems: [ClusterAPI.Problem] {
        servers.enumerated().flatMap { number, server in
            let problems = server.map(problems) ?? []
            guard servers.count > 1 else { return problems }
            return problems.map { ClusterAPI.Problem(code: $0.code, text: "shard \(number): \($0.text)") }
        }
    }

    private func problems(of server: ServerState) -> [ClusterAPI.Problem] {
        var problems = server.facts.findings.map { ClusterAPI.Problem(code: $0.code, text: "\($0)") }
        if server.facts.synchronousStandbyCount == 1 {
            problems.append(
                .init(
                    code: "one-connected-standby",
                    text: "only one synchronous standby of PostgreSQL is connected, so without it no commit ends. "
                        + "Start another standby."))
        }
        if let seconds = server.oldestTransactionSeconds, seconds > Self.transactionSecondsMax {
            problems.append(
                .init(
                    code: "old-transaction",
                    text: "a transaction in PostgreSQL is open for \(seconds / 60) minutes, so deleted rows are kept. "
                        + "End it: see pg_stat_activity and pg_prepared_xacts."))
        }
        return problems
    }
}
