// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import Glibc
internal import PushAPI
internal import PushCore

/// The command `posthorn top`: shows the server's present work.
enum TopCommand {
    static let node = CommandNode(
        Command(
            "top", "Show rates, queues and connections of the server, continuously.",
            discussion: """
                On a terminal, the screen is renewed until Ctrl-C. Elsewhere, and with --once or --json, the command prints \
                one measurement of an interval.
                """,
            options: [
                Option("interval", short: "i", value: "SECONDS", "The interval of the measurement. Default: 2."),
                Option("once", "Print one measurement and exit."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let client = context.admin(invocation)
        let seconds: Int64
        do throws(UsageError) { seconds = try invocation.integer("interval", in: 1...3600) ?? 2 } catch {
            throw .usage(error)
        }
        let isOnce = invocation.has("once") || invocation.has("json") || isatty(STDOUT_FILENO) != 1
        var earlier = try sample(client)
        while true {
            sleep(UInt32(seconds))
            let now = try sample(client)
            let queues = try client.send(.get("queues"), for: AdminAPI.Queues.self).queues
            let measurement = Measurement(from: earlier, to: now, queues: queues)
            guard !isOnce else { return Report(text(measurement, names: [:]), json: measurement) }
            let names = names(of: queues, client)
            // Move to the upper left corner, and clear what is below the last line.
            _ = try Console.write("\u{1B}[H\u{1B}[2J" + text(measurement, names: names) + "\n")
            earlier = now
        }
    }

    /// The server's counters at a moment.
    struct Sample: Sendable {
        let status: AdminAPI.Status
        let at: ContinuousClock.Instant
    }

    private static func sample(_ client: AdminClient) throws(CommandError) -> Sample {
        let status = try client.send(.get("status"), for: AdminAPI.Status.self)
        return Sample(status: status, at: .now)
    }

    private static func names(of queues: [AdminAPI.Queue], _ client: AdminClient) -> [String: String] {
        var names: [String: String] = [:]
        for queue in queues.prefix(Limits.topDeviceCountMax) {
            names[queue.deviceID] = try? client.send(.get("devices", queue.deviceID), for: AdminAPI.Device.self).name
        }
        return names
    }

    /// The events between two samples, and the present queues.
    struct Measurement: Encodable, Sendable {
        let serverURL: String
        let version: String
        let uptimeSeconds: Int64
        /// The numbers per second.
        let accepted: Double
        let acknowledged: Double
        let dropped: Double
        let expired: Double
        let refused: Double
        /// The present numbers.
        let pending: Int
        let devicesConnected: Int
        let devices: Int
        let connections: AdminAPI.Connections?
        let memory: AdminAPI.Memory?
        let queues: [AdminAPI.Queue]

        init(from earlier: Sample, to later: Sample, queues: [AdminAPI.Queue]) {
            let seconds = max((later.at - earlier.at) / .seconds(1), 0.001)
            let (first, last) = (earlier.status.counts, later.status.counts)
            func rate(_ count: (AdminAPI.Counts) -> Int) -> Double {
                // A restart between the samples begins the counts again.
                Double(max(0, count(last) - count(first))) / seconds
            }
            func refusals(_ status: AdminAPI.Status) -> Int64 { (status.refusals ?? []).reduce(0) { $0 + $1.count } }
            serverURL = later.status.serverURL
            version = later.status.version
            uptimeSeconds = LocalTime.now.seconds(since: later.status.startedAt)
            accepted = rate { Int($0.accepted) }
            acknowledged = rate { Int($0.acknowledged) }
            dropped = rate { Int($0.dropped) }
            expired = rate { Int($0.expired) }
            refused = Double(max(0, refusals(later.status) - refusals(earlier.status))) / seconds
            pending = Int(last.pending)
            devices = Int(last.devices)
            devicesConnected = Int(last.devicesConnected)
            connections = later.status.connections
            memory = later.status.memory
            self.queues = queues
        }

        private enum CodingKeys: String, CodingKey {
            case accepted, acknowledged, dropped, expired, refused, pending, devices, connections, memory, queues,
                version
            case serverURL = "server_url"
            case uptimeSeconds = "uptime_seconds"
            case devicesConnected = "devices_connected"
        }
    }

    /// Formats a measurement for a screen of 80 columns and 24 lines.
    static func text(_ measurement: Measurement, names: [String: String]) -> String {
        func perSecond(_ rate: Double) -> String { "\((rate * 10).rounded() / 10)/s" }
        var fields = [
            (
                name: "posthornd \(oneLine(measurement.version))",
                value: "\(oneLine(measurement.serverURL)), up \(TimeSpan.text(seconds: measurement.uptimeSeconds))"
            ),
            ("", ""),
            ("Accepted", perSecond(measurement.accepted)), ("Acknowledged", perSecond(measurement.acknowledged)),
            ("Dropped", perSecond(measurement.dropped)), ("Expired", perSecond(measurement.expired)),
            ("Refused by limits", perSecond(measurement.refused)), ("Pending", "\(measurement.pending)"),
            ("Devices", "\(measurement.devicesConnected) of \(measurement.devices) connected"),
        ]
        if let connections = measurement.connections {
            let all = connections.devices + connections.providers + connections.strangers
            fields.append(
                (
                    "Connections",
                    "\(all) of \(connections.limit): \(connections.devices) devices, \(connections.providers) providers, "
                        + "\(connections.strangers) others"
                ))
        }
        if let memory = measurement.memory {
            fields.append(("Connection memory", "\(memory.heldBytes >> 20) of \(memory.budgetBytes >> 20) MiB"))
        }
        let queues = measurement.queues.prefix(Limits.topDeviceCountMax)
        guard !queues.isEmpty else { return Table.fields(fields) + "\n\nNo notification waits for a device." }
        let table = Table(
            [.text("LONGEST QUEUES"), .number("PENDING"), .text("STATE"), .name("NAME")],
            rows: queues.map { queue in
                [
                    queue.deviceID, "\(queue.pending)", queue.connected ? "connected" : "offline",
                    oneLine(names[queue.deviceID] ?? ""),
                ]
            })
        return Table.fields(fields) + "\n\n" + table.text
    }
}
