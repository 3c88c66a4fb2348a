// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn trace`: shows the history of notifications.
enum TraceCommand {
    static let node = CommandNode(
        Command(
            "trace", "Show the history of a notification, a device or an app.",
            discussion: """
                ID is the apns-id or the apns-unique-id from the response to the provider. The history shows when the \
                notification was accepted, stored, sent and acknowledged. It then shows the outcome on the device \
                (shown, sound-only, suppressed, viewed or closed), or why it was not delivered (replaced, expired, \
                dropped or unregistered). The column DETAIL has the reason. In the source of Posthorn, \
                docs/how-to/follow-a-notification.md lists all events, and docs/reference/device-protocol.md the \
                reasons of devices.

                The server keeps the history for trace_days, up to trace_megabytes. Events of a disconnected device \
                are missing until it reconnects.
                """,
            usages: ["ID", "--device ID [--since AGE] [--limit N]", "--app TOPIC [--since AGE] [--limit N]"],
            arguments: [Argument("ID", "An apns-id or apns-unique-id.", optional: true)],
            options: [
                Option("device", short: "d", value: "ID", "Show all notifications to this device."),
                Option("app", short: "a", value: "TOPIC", "Show all notifications of this app."),
                Option("since", value: "AGE", "The maximum age, for example 30m, 12h or 7d. Default: 1d."),
                Option("limit", short: "n", value: "N", "The maximum number of events, the newest ones. Default: 100."),
                Option(
                    "after", value: "N",
                    "Show the oldest events after this number, which the page before printed; 0 starts."),
            ],
            examples: [
                Explanation(
                    "posthorn trace 0f2b7a3e-5c1d-4e8f-9a6b-7c8d9e0f1a2b", "Show the history of one notification."),
                Explanation("posthorn trace --device 00a1b2c3d4e5f607 --since 1h", "Show the last hour of a device."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let request = try request(invocation, now: LocalTime.now)
        let client = context.admin(invocation)
        let topics = invocation.value("app").map { [TopicName($0)] } ?? []
        let trace: TraceAPI.Trace
        do throws(CommandError) {
            trace = try client.send(request, for: TraceAPI.Trace.self, about: topics)
        } catch {
            throw error.refusal?.error == "UnknownTopic" ? .advised(error, remedy: removedAppRemedy) : error
        }
        guard !invocation.arguments.isEmpty else { return list(trace, of: invocation.has("app")) }
        return timeLines(trace, waiting: waiting(trace, client))
    }

    static let removedAppRemedy = "For an app that was removed, specify a notification ID or --device ID."

    /// Asks for the device of a notification that waits; returns nil if none waits or the device is unknown.
    private static func waiting(_ trace: TraceAPI.Trace, _ client: AdminClient) -> AdminAPI.Device? {
        let devices = Set(trace.events.compactMap(\.deviceID))
        let hasEnded = trace.events.contains { event in
            TraceStep.allCases.contains { $0.word == event.event && $0.isEnd }
        }
        guard let device = devices.first, devices.count == 1, !hasEnded else { return nil }
        return try? client.send(.get("devices", device), for: AdminAPI.Device.self)
    }

    /// Builds the request.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - now: The current time.
    /// - Returns: The request.
    /// - Throws: An error when the command line does not name exactly one subject, or a value is invalid.
    static func request(_ invocation: Invocation, now: Timestamp) throws(CommandError) -> AdminRequest {
        let subjects = [
            ("id", invocation.arguments.first), ("device", invocation.value("device")),
            ("app", invocation.value("app")),
        ].compactMap { name, value in value.map { (name, $0) } }
        guard subjects.count == 1 else {
            let only = subjects.isEmpty ? "" : "only one of "
            throw .usage(
                invocation.error(.contradiction("specify \(only)a notification ID, --device ID or --app TOPIC")))
        }
        var parameters = subjects
        if subjects[0].0 == "id" {
            guard !["since", "after"].contains(where: invocation.has) else {
                throw .usage(invocation.error(.contradiction("--since and --after require --device or --app")))
            }
            parameters.append(("limit", "\(Limits.traceAnswerCountMax)"))
        } else {
            parameters.append(("since", "\(now.advanced(bySeconds: -(try age(invocation))).unixMilliseconds)"))
        }
        do throws(UsageError) {
            let limit = try invocation.integer("limit", in: 1...Int64(Limits.traceAnswerCountMax))
            if let limit, subjects[0].0 != "id" { parameters.append(("limit", "\(limit)")) }
            if let after = try invocation.integer("after", in: 0...Int64.max) {
                parameters.append(("after", "\(after)"))
            }
        } catch {
            throw .usage(error)
        }
        return AdminRequest.get("trace").with(parameters)
    }

    /// Returns the value of `--since` in seconds; the default is one day.
    private static func age(_ invocation: Invocation) throws(CommandError) -> Int64 {
        guard let text = invocation.value("since") else { return 86_400 }
        guard let seconds = TimeSpan.seconds(text) else {
            throw .usage(
                invocation.error(.badValue(of: "--since", value: text, expected: TimeSpan.expectation(insteadOf: text)))
            )
        }
        return seconds
    }

    // MARK: Output

    /// Formats one time line for each notification with the ID.
    ///
    /// - Parameters:
    ///   - trace: The events.
    ///   - device: The device for which the notification waits; nil for none.
    /// - Returns: The report. Its last line names the condition for which the notification waits.
    static func timeLines(_ trace: TraceAPI.Trace, waiting device: AdminAPI.Device? = nil) -> Report {
        var sequences: [Int64] = []
        for event in trace.events where event.apnsUniqueID != nil && !sequences.contains(event.sequence) {
            sequences.append(event.sequence)
        }
        let texts = sequences.map { sequence in timeLine(trace.events.filter { $0.sequence == sequence }) }
        let end = device.map { ["waiting: \(state(of: $0))"] } ?? []
        return Report((texts + end).joined(separator: "\n\n"), json: trace)
    }

    private static func state(of device: AdminAPI.Device) -> String {
        if device.connected { return "the device is connected and has not acknowledged the notification yet" }
        guard let seen = device.seenAt else { return "the device has never connected" }
        return "the device is offline since \(LocalTime.text(seen))"
    }

    private static func timeLine(_ events: [TraceAPI.Event]) -> String {
        guard let first = events.first else { return "" }
        let devices = Set(events.compactMap(\.deviceID))
        var fields = [
            ("apns-id", first.apnsID ?? "unknown"), ("apns-unique-id", first.apnsUniqueID ?? "unknown"),
            ("App", first.topic?.text ?? "removed app"),
        ]
        if let device = devices.first, devices.count == 1 { fields.append(("Device", device)) }
        if devices.count > 1 { fields.append(("Devices", "\(devices.count) (broadcast)")) }
        let table = Table(
            [.text("WHEN"), .number("AFTER"), .text("EVENT")] + (devices.count > 1 ? [.text("DEVICE")] : [])
                + [.sentence("DETAIL")],
            rows: events.map { event in
                [LocalTime.text(event.at), duration(event.at.milliseconds(since: first.at)), event.event]
                    + (devices.count > 1 ? [event.deviceID ?? ""] : []) + [meaning(event)]
            })
        return Table.fields(fields) + "\n\n" + table.text
    }

    /// Formats one line for each event of a device or an app.
    ///
    /// - Parameters:
    ///   - trace: The events.
    ///   - isOfApp: Whether all events belong to one app; if not, to one device.
    /// - Returns: The report.
    static func list(_ trace: TraceAPI.Trace, of isOfApp: Bool) -> Report {
        guard !trace.events.isEmpty else {
            return Report("No events. Specify a longer time with --since, for example --since 7d.", json: trace)
        }
        let table = Table(
            [
                .text("WHEN"), .text("EVENT"), isOfApp ? .text("DEVICE") : .name("APP"), .text("ID"),
                .sentence("DETAIL"),
            ],
            rows: trace.events.map { event in
                [
                    LocalTime.shortText(event.at), event.event,
                    isOfApp ? event.deviceID ?? "" : event.topic?.text ?? "",
                    String(event.apnsUniqueID?.prefix(8) ?? ""), meaning(event),
                ]
            })
        var hint = "ID is the beginning of the apns-unique-id; --json shows all of it."
        if let next = trace.next { hint = "More events follow: add --after \(next)" }
        if trace.hasEarlier == true {
            hint = "There are earlier events: raise --limit, or begin with --after 0.\n" + hint
        }
        return Report(table.text + "\n\n" + hint, json: trace)
    }

    /// Formats a duration, for example `340 ms`, `2.5 s`, `12 min 3 s`, `2 d 4 h`.
    static func duration(_ milliseconds: Int64) -> String {
        // The duration is negative when the clock was set back between the two events.
        guard milliseconds >= 0 else { return "-" + duration(-max(milliseconds, -Int64.max)) }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 { return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s" }
        return TimeSpan.text(seconds: milliseconds / 1000)
    }

    /// Describes an event and its reason; an event of a newer server may have no description.
    private static func meaning(_ event: TraceAPI.Event) -> String {
        let step = TraceStep.allCases.first { $0.word == event.event }
        let detail = TraceDetail.allCases.first { $0.word != nil && $0.word == event.reason }
        let reason = detail?.meaning ?? event.reason
        return [step?.meaning, reason].compactMap { $0 }.joined(separator: ": ")
    }
}
