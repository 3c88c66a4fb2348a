// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn status`: shows the state of the server.
enum StatusCommand {
    static let node = CommandNode(
        Command(
            "status", "Show server status.")
    ) { (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("status"), for: AdminAPI.Status.self))
    }

    /// Formats the output of `status`.
    static func report(of status: AdminAPI.Status) -> Report {
        let counts = status.counts
        var fields = [
            (name: "Server", value: status.serverURL),
            (name: "Version", value: "\(status.version), process \(status.processID)"),
            (name: "Running since", value: LocalTime.text(status.startedAt)),
            (name: "Data directory", value: status.dataDirectory), (name: "Team ID", value: status.teamID),
        ]
        if let file = status.caFile { fields.append(("CA file", file)) }
        if let since = status.diskFullSince {
            fields += [
                ("Disk full since", LocalTime.text(since)),
                ("  effect", "new notifications are refused with 503 ServiceUnavailable; deliveries continue"),
                ("  remedy", "free space for \(status.dataDirectory); the server then resumes automatically"),
            ]
        }
        if let count = status.cutOffDevices, count > 0 {
            fields += [
                ("Devices cut off", "\(count); they do not trust the server's certificate"),
                ("  remedy", "see 'posthorn authority list'"),
            ]
        }
        if let end = status.certificateExpiresAt { fields += lines(ofCertificate: end, isOwn: status.caFile != nil) }
        fields += [
            (name: "Apps", value: "\(counts.apps)"),
            (name: "Devices", value: "\(counts.devices), \(counts.devicesConnected) connected"),
            (name: "Registrations", value: "\(counts.registrations)"), (name: "Pending", value: "\(counts.pending)"),
        ]
        if let connections = status.connections { fields += lines(of: connections) }
        if let memory = status.memory { fields += lines(of: memory) }
        fields += [
            counts.includesAllNodes == true ? ("Since the first start", "of all nodes") : ("Since start", ""),
            (name: "  accepted", value: "\(counts.accepted)"),
            (name: "  acknowledged", value: "\(counts.acknowledged)"),
            (name: "  collapsed", value: "\(counts.collapsed)"), (name: "  expired", value: "\(counts.expired)"),
            (name: "  dropped", value: "\(counts.dropped)"), (name: "  unregistered", value: "\(counts.unregistered)"),
        ]
        if !counts.outcomes.isEmpty { fields.append(("Devices reported", "")) }
        for (outcome, count) in counts.outcomes.sorted(by: { $0.key < $1.key }) {
            fields.append(("  \(oneLine(outcome))", "\(count)"))
        }
        fields.append(("Ignored acknowledgements", "\(counts.glitches)"))
        if let refusals = status.refusals, !refusals.isEmpty { fields.append(("Refused by limits", "")) }
        for refusal in status.refusals ?? [] {
            let principal = refusal.principal == "stranger" ? "unauthenticated" : refusal.principal
            fields.append(("  \(oneLine(principal)) \(oneLine(refusal.cause))", "\(refusal.count)"))
        }
        return Report(Table.fields(fields), json: status)
    }

    /// Formats the end of the server's certificate, which the server renews if it has issued it.
    static func lines(
        ofCertificate end: Timestamp, isOwn: Bool, now: Timestamp = LocalTime.now
    ) -> [(name: String, value: String)] {
        let days = end.seconds(since: now) / 86_400
        guard end > now else {
            return [
                ("Certificate", "expired at \(LocalTime.text(end))"),
                ("  remedy", "renew it, then run 'systemctl reload posthornd'"),
            ]
        }
        let rest = days == 1 ? "1 day left" : "\(days) days left"
        return [("Certificate", "expires at \(LocalTime.text(end)), \(rest)\(isOwn ? "; renewed automatically" : "")")]
    }

    private static func lines(of connections: AdminAPI.Connections) -> [(name: String, value: String)] {
        let nodes = connections.nodes ?? 0
        let all = connections.devices + connections.providers + connections.strangers + nodes
        var lines = [
            (
                name: "Connections",
                value: "\(all) of \(connections.limit): \(connections.devices) from devices, \(connections.providers) "
                    + "from providers, \(nodes > 0 ? "\(nodes) from other nodes, " : "")"
                    + "\(connections.strangers) unauthenticated"
            )
        ]
        guard connections.shed > 0 || connections.overLimit > 0 else { return lines }
        lines.append(("  arrived over a limit", "\(connections.overLimit)"))
        lines.append(("  closed to free capacity", "\(connections.shed)"))
        return lines
    }

    private static func lines(of memory: AdminAPI.Memory) -> [(name: String, value: String)] {
        var lines = [
            (
                name: "Connection memory",
                value: "\(memory.heldBytes / 1024) KiB of \(memory.budgetBytes >> 20) MiB"
            )
        ]
        if memory.heldBack > 0 { lines.append(("  reading paused", "\(memory.heldBack) times")) }
        return lines
    }
}
