// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn cluster`: several servers that share a store in PostgreSQL.
enum ClusterCommands {
    static let group = CommandNode(
        group: "cluster", "Manage the nodes of a cluster.",
        discussion: """
            A node is a posthornd that shares its store in PostgreSQL with others. Each command connects to the node on \
            this machine.
            """,
        children: [status], defaultChild: "status")

    private static let status = CommandNode(
        Command(
            "status", "Show the nodes, PostgreSQL, and all problems.",
            discussion: """
                LINK is the connection of this machine's node to the other one. CLOCK is the time by which the clock of \
                the node is ahead of PostgreSQL's. The problems include those that become visible only after the next \
                loss of a machine. The exit code is 0 without problems, 1 with problems, 3 if the node does not run, and \
                4 if the server is not part of a cluster.
                """)
    ) { (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("cluster"), for: ClusterAPI.Status.self))
    }

    /// Formats the output of `cluster status`.
    static func report(of cluster: ClusterAPI.Status) -> Report {
        let table = Table(
            [
                .name("NODE"), .number("NUMBER"), .text("STATE"), .number("HEARTBEAT"), .text("LINK"),
                .number("CLOCK"), .text("VERSION"), .name("ADDRESS"),
            ],
            rows: cluster.nodes.map { node in
                [
                    node.name, "\(node.number)", state(of: node, in: cluster),
                    time(milliseconds: node.heartbeatAgeMilliseconds), link(to: node, in: cluster),
                    node.clockDifferenceMilliseconds.map { "\($0) ms" } ?? "-", node.version, node.address ?? "-",
                ]
            })
        var texts = [table.text, Table.fields(lines(of: cluster.postgres))]
        texts.append(
            cluster.problems.isEmpty
                ? "No problems."
                : Table([.sentence("PROBLEMS")], rows: cluster.problems.map { [$0.text] }).text)
        var report = Report(texts.filter { !$0.isEmpty }.joined(separator: "\n\n"), json: cluster)
        if !cluster.problems.isEmpty { report.exitCode = .refused }
        return report
    }

    private static func state(of node: ClusterAPI.Node, in cluster: ClusterAPI.Status) -> String {
        guard node.isLive else { return "not live" }
        if node.leaseMilliseconds == 0 { return "suspended" }
        switch node.draining {
        case .no: return "serving"
        case .draining: return "draining"
        case .drained: return "drained"
        }
    }

    private static func link(to node: ClusterAPI.Node, in cluster: ClusterAPI.Status) -> String {
        node.isLinkUp.map { $0 ? "up" : "down" } ?? (node.name == cluster.node ? "this node" : "-")
    }

    private static func time(milliseconds: Int64) -> String {
        milliseconds < 10_000 ? "\(milliseconds) ms" : TimeSpan.text(seconds: milliseconds / 1_000)
    }

    private static func lines(of postgres: ClusterAPI.Postgres) -> [(name: String, value: String)] {
        guard postgres.isConnected else { return [("PostgreSQL", "not connected")] }
        guard let version = postgres.version else { return [("PostgreSQL", "connected, but it does not answer")] }
        let standbys = postgres.synchronousStandbyNames ?? ""
        return [
            ("PostgreSQL", "\(version), \(postgres.isPrimary == true ? "primary" : "standby")"),
            (
                "Synchronous standbys",
                (postgres.synchronousStandbyCount.map { "\($0) connected" } ?? "unknown number")
                    + "; synchronous_standby_names = '\(standbys)'"
            ),
            ("synchronous_commit", postgres.synchronousCommit ?? "unknown"),
            ("TLS", postgres.usesTLS == true ? "yes" : "no"),
            ("Oldest transaction", postgres.oldestTransactionSeconds.map { TimeSpan.text(seconds: $0) } ?? "none"),
        ]
    }
}
