// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import Glibc
internal import PushAPI
internal import PushCore

/// The command `posthorn cluster`: several servers that share a store in PostgreSQL.
enum ClusterCommands {
    static let group = CommandNode(
        group: "cluster", "Manage the nodes of a cluster.",
        discussion: """
            A node is a posthornd that shares its store in PostgreSQL with others. Each command except 'init' connects to \
            the node on this machine.
            """,
        children: [
            initialize, status, drain, undrain, remove, moveSlots, finishUpgrade, rotateTokenKey, rotateClusterKey,
        ], defaultChild: "status")

    private static let status = CommandNode(
        Command(
            "status", "Show the nodes, PostgreSQL, and all problems.",
            discussion: """
                ID is the number of the node. LINK is the connection from this machine's node to the other node. Over \
                it, the other node reports its CLOCK and DEVICES. CLOCK is the time by which the clock of the node is \
                ahead of PostgreSQL's.

                STANDBYS is the number of synchronous standbys, and of others if there are any. WAITING is the number \
                of notifications that wait in PostgreSQL, which is estimated if it is large. WRITTEN is the number \
                that this machine's node wrote in the last minute. P50 and P99 are the times within which half and \
                99 % of these writes were committed. With one shard, these figures are in lines of their own.

                The problems include those that become visible only after the next loss of a machine. The exit code is \
                0 without problems, 1 with problems, 3 if the node does not run, and 4 if the server is not part of a \
                cluster.
                """)
    ) { (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("cluster"), for: ClusterAPI.Status.self))
    }

    private static let node = Argument("NODE", "The name from 'posthorn cluster status'.")

    /// The time that `cluster drain` waits by default, in seconds.
    private static let drainSeconds: Int64 = 180

    private static let drain = CommandNode(
        Command(
            "drain", "Send the devices of a node to other nodes.",
            discussion: """
                The node takes no new devices, and sends its devices away within a minute. It still answers providers \
                until it stops. The command waits until no device is left; then the node can be stopped. The node takes \
                devices again after 'posthorn cluster undrain', or when it starts with another version.
                """,
            arguments: [node],
            options: [Option("timeout", short: "t", value: "TIME", "The maximum time to wait. Default: 3m.")],
            examples: [Explanation("posthorn cluster drain n2", "Drain the node n2, before it is upgraded.")])
    ) { (invocation, context) throws(CommandError) in
        let seconds = try waitingSeconds(invocation, default: drainSeconds)
        let (admin, name) = (context.admin(invocation), invocation.argument(0) ?? "")
        try admin.send(.patch("cluster", "nodes", name, body: ClusterAPI.NodeChange(isDraining: true)))
        for _ in 0..<seconds * 4 {
            let cluster = try admin.send(.get("cluster"), for: ClusterAPI.Status.self)
            if let text = drained(name, in: cluster) { return Report(text, json: Done()) }
            usleep(250_000)
        }
        throw .unfinished(
            "\(name) is not drained after \(TimeSpan.text(seconds: seconds))",
            remedy: "It continues; see 'posthorn cluster status'.")
    }

    private static let undrain = CommandNode(
        Command(
            "undrain", "Let a drained node take devices again.", arguments: [node])
    ) { (invocation, context) throws(CommandError) in
        let name = invocation.argument(0) ?? ""
        let change = ClusterAPI.NodeChange(isDraining: false)
        let admin = context.admin(invocation)
        try admin.send(.patch("cluster", "nodes", name, body: change))
        let cluster = try admin.send(.get("cluster"), for: ClusterAPI.Status.self)
        let runs = cluster.nodes.first { $0.name == name }?.isLive != false
        return Report("\(oneLine(name)) takes devices\(runs ? "" : " when it runs").", json: Done())
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove a node that no longer exists.",
            discussion: """
                The name and the number of the node become free. Nothing is lost: its devices connect to other nodes, and \
                notifications are in PostgreSQL. The command refuses a node that had a heartbeat in the last ten seconds.

                The remaining nodes get certificates of a new authority, so the removed machine cannot open a link \
                with its old certificate. But a machine that has cluster.key and the password of PostgreSQL can join \
                again. If the machine is lost or stolen, change the password, and then run 'posthorn cluster \
                rotate-cluster-key'.
                """,
            arguments: [node])
    ) { (invocation, context) throws(CommandError) in
        let (admin, name) = (context.admin(invocation), invocation.argument(0) ?? "")
        try admin.send(.delete("cluster", "nodes", name))
        waitForAuthority(admin)
        return Report(
            """
            Removed \(oneLine(name)). Its machine can join again as long as it has cluster.key and the password of \
            PostgreSQL. If it is lost or stolen, change the password, and then run:
            posthorn cluster rotate-cluster-key
            """, json: Done())
    }

    /// Returns the time to wait from the option `--timeout`.
    static func waitingSeconds(_ invocation: Invocation, default seconds: Int64) throws(CommandError) -> Int64 {
        guard let text = invocation.value("timeout") else { return seconds }
        guard let given = TimeSpan.seconds(text) else {
            throw .usage(
                invocation.error(
                    .badValue(of: "--timeout", value: text, expected: TimeSpan.expectation(insteadOf: text))))
        }
        return given
    }

    private static let moveSlots = CommandNode(
        Command(
            "move-slots", "Move devices to another database.",
            discussion: """
                Each device belongs to one of 1,024 slots, and each slot to one database (shard). The command moves \
                COUNT slots to SHARD from the shards that have the most slots. It moves some slots at a time. Their \
                devices connect again after about a second; until then, notifications for them wait. Nothing is lost \
                if a node or a database stops meanwhile. A slot that has moved can move again after about a minute.
                """,
            arguments: [Argument("COUNT", "The number of slots, from 1 to 1024.")],
            options: [
                Option("to", value: "SHARD", "The number of the shard from 'posthorn cluster status'. Required.")
            ],
            examples: [
                Explanation("posthorn cluster move-slots --to 1 512", "Move half of all devices to a second database.")
            ])
    ) { (invocation, context) throws(CommandError) in
        guard let target = invocation.value("to") else {
            throw .usage(invocation.error(.missingArgument(placeholder: "--to")))
        }
        guard let shard = Int(target), (0..<Limits.shardCountMax).contains(shard) else {
            throw .usage(
                invocation.error(.badValue(of: "--to", value: target, expected: "use the number of a shard")))
        }
        let text = invocation.argument(0) ?? ""
        guard let count = Int(text), (1...slotCount).contains(count) else {
            throw .usage(
                invocation.error(.badValue(of: "COUNT", value: text, expected: "use a number from 1 to \(slotCount)")))
        }
        let admin = context.admin(invocation)
        let cluster = try admin.send(.get("cluster"), for: ClusterAPI.Status.self)
        try checkUse(of: shard, in: cluster)
        let before = cluster.slotCount(of: shard)
        var (after, last) = (before, -1)
        // Each request moves so few slots that its answer comes soon, also with many devices or on a busy machine.
        while after - before < count, after != last {
            last = after
            let part = min(count - (after - before), movedAtOnceCount)
            try admin.send(.post(["cluster", "moves"], ClusterAPI.SlotMove(shard: shard, count: part)))
            after = try admin.send(.get("cluster"), for: ClusterAPI.Status.self).slotCount(of: shard)
        }
        return Report(moveText(shard, from: before, to: after, count), json: Done())
    }

    /// The number of slots that the server moves in one step.
    private static let movedAtOnceCount = 16

    /// Refuses to move slots to a shard that some nodes do not use.
    static func checkUse(of shard: Int, in cluster: ClusterAPI.Status) throws(CommandError) {
        let names = cluster.shards.first { $0.number == shard }?.absentNodes ?? []
        guard !names.isEmpty else { return }
        let list = names.map { oneLine($0) }.joined(separator: " and ")
        throw .adminRefused(
            status: 409,
            DeviceAPI.Failure(
                error: "ShardNotEverywhere",
                detail:
                    "\(list) \(names.count == 1 ? "does" : "do") not use shard \(shard). Set 'shards' on all nodes, "
                    + "restart them, and check that they reach the database of this shard."))
    }

    /// Describes the result of a move of slots, and the reason if fewer were moved than requested.
    static func moveText(_ shard: Int, from before: Int, to after: Int, _ count: Int) -> String {
        let moved = max(after - before, 0)
        let text = "Shard \(shard) has \(after) slots now; \(moved) were moved."
        guard moved < count else { return text }
        return text
            + (after == slotCount
                ? " No other shard has slots."
                : " The other slots moved recently. They can move again after a minute.")
    }

    /// The number of slots of all shards together.
    private static let slotCount = 1024

    private static let finishUpgrade = CommandNode(
        Command(
            "finish-upgrade", "Delete what only nodes of an earlier version need.",
            discussion: """
                Run the command after an upgrade, when all nodes run the new version. The command refuses while a node \
                of an earlier version is in 'posthorn cluster status'. If the upgrade left anything to delete, nodes of \
                the earlier version cannot start any more afterwards.
                """)
    ) { (invocation, context) throws(CommandError) in
        try context.admin(invocation).send(.post(["cluster", "upgrade"]))
        // This version of the tables is the first, so nothing of an earlier one can be left.
        return Report("There is nothing to finish.", json: Done())
    }

    /// Returns the result of a drain that is complete; nil while devices are left.
    ///
    /// - Parameters:
    ///   - name: The name of the node.
    ///   - cluster: The cluster.
    /// - Returns: The sentences for the administrator.
    static func drained(_ name: String, in cluster: ClusterAPI.Status) -> String? {
        guard let node = cluster.nodes.first(where: { $0.name == name }) else { return nil }
        if node.draining == .drained { return "\(oneLine(name)) is drained." }
        // Without PostgreSQL, nothing is known about the node.
        guard cluster.shards.first?.isConnected == true, !node.isLive else { return nil }
        let age = TimeSpan.text(seconds: node.heartbeatAgeMilliseconds / 1_000)
        return """
            \(oneLine(name)) has sent no heartbeat for \(age), so it has no devices. When it starts with the same version, \
            it stays drained until 'posthorn cluster undrain'.
            """
    }

    /// Formats the output of `posthorn cluster status`.
    static func report(of cluster: ClusterAPI.Status) -> Report {
        let table = Table(
            [
                .name("NODE"), .number("ID"), .text("STATE"), .number("HEARTBEAT"), .text("LINK"),
                .number("CLOCK"), .number("DEVICES"), .text("VERSION"), .name("ADDRESS"),
            ],
            rows: cluster.nodes.map { node in
                [
                    node.name, "\(node.number)", state(of: node, in: cluster),
                    time(milliseconds: node.heartbeatAgeMilliseconds), link(to: node, in: cluster),
                    node.clockDifferenceMilliseconds.map { "\($0) ms" } ?? "-",
                    node.deviceCount.map { "\($0)" } ?? "-", node.version, node.address ?? "-",
                ]
            })
        var texts = [table.text, shardText(of: cluster)]
        texts.append(
            cluster.problems.isEmpty
                ? "No problems."
                : Table([.sentence("PROBLEMS")], rows: cluster.problems.map { [$0.text] }).text)
        let drained = cluster.nodes.filter { $0.isLive && $0.draining == .drained }.map { node in
            let name = oneLine(node.name)
            return "\(name) is drained. To let it take devices, run 'posthorn cluster undrain \(name)'."
        }
        texts.append(drained.joined(separator: "\n"))
        var report = Report(texts.filter { !$0.isEmpty }.joined(separator: "\n\n"), json: cluster)
        if !cluster.problems.isEmpty { report.exitCode = .refused }
        return report
    }

    private static func state(of node: ClusterAPI.Node, in cluster: ClusterAPI.Status) -> String {
        if node.leaseMilliseconds == 0 || node.commits == false { return "suspended" }
        guard node.isLive else { return node.draining == .no ? "not live" : "not live, drained" }
        switch node.draining {
        case .no: return "serving"
        case .draining: return "draining"
        case .drained: return "drained"
        }
    }

    private static func link(to node: ClusterAPI.Node, in cluster: ClusterAPI.Status) -> String {
        node.isLinkUp.map { $0 ? "up" : "down" } ?? (node.name == cluster.node ? "self" : "-")
    }

    private static func time(milliseconds: Int64) -> String {
        milliseconds < 10_000 ? "\(milliseconds) ms" : TimeSpan.text(seconds: milliseconds / 1_000)
    }
}

extension ClusterAPI.Status {
    /// Returns the number of slots of a shard.
    fileprivate func slotCount(of shard: Int) -> Int { shards.first { $0.number == shard }?.slotCount ?? 0 }
}
