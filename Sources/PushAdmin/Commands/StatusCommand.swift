// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn status`: how the server is.
package enum StatusCommand {
    static let node = CommandNode(
        Command(
            "status", "Show how the server is.")
    ) { (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(.get("status"), for: AdminAPI.Status.self))
    }

    /// What `status` prints.
    package static func report(of status: AdminAPI.Status) -> Report {
        let counts = status.counts
        var fields = [
            (name: "Server", value: status.serverURL),
            (name: "Version", value: "\(status.version), process \(status.processID)"),
            (name: "Running since", value: LocalTime.text(unixSeconds: status.startedAt)),
            (name: "Data directory", value: status.dataDirectory), (name: "Team ID", value: status.teamID),
        ]
        if let since = status.diskFullSince {
            fields += [
                ("Disk full since", LocalTime.text(unixSeconds: since)),
                ("  refused", "what must be stored: providers get 503 ServiceUnavailable; deliveries go on"),
                ("  to do", "make space for \(status.dataDirectory); the server goes on by itself"),
            ]
        }
        fields += [
            (name: "Apps", value: "\(counts.apps)"),
            (name: "Devices", value: "\(counts.devices), \(counts.devicesConnected) connected"),
            (name: "Registrations", value: "\(counts.registrations)"), (name: "Pending", value: "\(counts.pending)"),
            (name: "Since it started", value: ""), (name: "  accepted", value: "\(counts.accepted)"),
            (name: "  acknowledged", value: "\(counts.acknowledged)"),
            (name: "  collapsed", value: "\(counts.collapsed)"), (name: "  expired", value: "\(counts.expired)"),
            (name: "  dropped", value: "\(counts.dropped)"), (name: "  unregistered", value: "\(counts.unregistered)"),
        ]
        if !counts.outcomes.isEmpty { fields.append(("Devices reported", "")) }
        for (outcome, count) in counts.outcomes.sorted(by: { $0.key < $1.key }) {
            fields.append(("  \(oneLine(outcome))", "\(count)"))
        }
        return Report(Table.fields(fields), json: status)
    }
}
