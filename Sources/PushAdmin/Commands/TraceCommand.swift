// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn trace`: what became of notifications.
package enum TraceCommand {
    static let node = CommandNode(
        Command(
            "trace", "Tell what became of a notification, or of all of a device or an app.",
            discussion: """
                ID is the apns-id or the apns-unique-id of an answer to a provider. The time line says when the \
                notification was accepted, stored, sent and acknowledged, and what the person saw and did: shown, \
                sound-only, suppressed, viewed, closed; or why nobody got it: replaced, expired, dropped, unregistered. \
                WHAT adds the reason. All events with their reasons are listed in docs/how-to/follow-a-notification.md, and \
                why a device suppressed one in docs/reference/device-protocol.md.

                The server keeps this for trace_days, and at most trace_megabytes of it. What a device does not tell, \
                because it is away, is not there yet.
                """,
            usages: ["ID", "--device ID [--since AGE] [--limit N]", "--app TOPIC [--since AGE] [--limit N]"],
            arguments: [Argument("ID", "An apns-id or apns-unique-id.", optional: true)],
            options: [
                Option("device", short: "d", value: "ID", "Everything that went to this device."),
                Option("app", short: "a", value: "TOPIC", "Everything of this app."),
                Option("since", value: "AGE", "Not older than this, for example 30m, 12h or 7d; 1d if left out."),
                Option("limit", short: "n", value: "N", "At most so many events; 100 if left out."),
                Option("after", value: "N", "The events behind those of the answer that named this number."),
            ],
            examples: [
                Explanation("posthorn trace 0f2b7a3e-5c1d-4e8f-9a6b-7c8d9e0f1a2b", "One notification's time line."),
                Explanation("posthorn trace --device 00a1b2c3d4e5f607 --since 1h", "The last hour of a device."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let request = try request(invocation, nowUnixSeconds: LocalTime.nowUnixSeconds)
        let client = surroundings.admin(invocation)
        let topics = invocation.value("app").map { [$0] } ?? []
        let trace = try client.send(request, for: AdminAPI.Trace.self, about: topics)
        return invocation.arguments.isEmpty ? list(trace) : timeLines(trace)
    }

    /// What is asked of the server.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - nowUnixSeconds: The time.
    /// - Returns: The request.
    /// - Throws: When it does not say what to look for, or a value makes no sense.
    package static func request(_ invocation: Invocation, nowUnixSeconds: Int64) throws(CommandError) -> AdminRequest {
        let subjects = [
            ("id", invocation.arguments.first), ("device", invocation.value("device")),
            ("app", invocation.value("app")),
        ].compactMap { name, value in value.map { (name, $0) } }
        guard subjects.count == 1 else {
            throw .advised(
                .usage(invocation.error(.contradiction("it is not clear what to look for"))),
                remedy: "Give an ID, or --device ID, or --app TOPIC.")
        }
        var parameters = subjects
        if subjects[0].0 == "id" {
            guard !["since", "after"].contains(where: invocation.has) else {
                throw .usage(invocation.error(.contradiction("of one notification everything is told")))
            }
            parameters.append(("limit", "\(Limits.traceAnswerCountMax)"))
        } else {
            parameters.append(("since", "\((nowUnixSeconds - (try age(invocation))) * 1000)"))
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

    /// `--since` in seconds; a day when it is left out.
    private static func age(_ invocation: Invocation) throws(CommandError) -> Int64 {
        guard let text = invocation.value("since") else { return 86_400 }
        guard let seconds = TimeSpan.seconds(text) else {
            throw .usage(
                invocation.error(.badValue(of: "--since", value: text, expected: TimeSpan.expectation(insteadOf: text)))
            )
        }
        return seconds
    }

    // MARK: What it prints

    /// A time line for each notification that has the id.
    package static func timeLines(_ trace: AdminAPI.Trace) -> Report {
        var sequences: [Int64] = []
        for event in trace.events where event.apnsUniqueID != nil && !sequences.contains(event.sequence) {
            sequences.append(event.sequence)
        }
        let texts = sequences.map { sequence in timeLine(trace.events.filter { $0.sequence == sequence }) }
        return Report(texts.joined(separator: "\n\n"), json: trace)
    }

    private static func timeLine(_ events: [AdminAPI.TraceEvent]) -> String {
        guard let first = events.first else { return "" }
        let devices = Set(events.compactMap(\.deviceID))
        var fields = [
            ("apns-id", first.apnsID ?? "unknown"), ("apns-unique-id", first.apnsUniqueID ?? "unknown"),
            ("App", first.topic ?? "removed"),
        ]
        if let device = devices.first, devices.count == 1 { fields.append(("Device", device)) }
        if devices.count > 1 { fields.append(("Devices", "\(devices.count) of a broadcast")) }
        let table = Table(
            [.text("WHEN"), .number("AFTER"), .text("EVENT")] + (devices.count > 1 ? [.text("DEVICE")] : [])
                + [.text("WHAT")],
            rows: events.map { event in
                [time(event.at), duration(event.at - first.at), event.event]
                    + (devices.count > 1 ? [event.deviceID ?? ""] : []) + [meaning(event)]
            })
        return Table.fields(fields) + "\n\n" + table.text
    }

    /// One line for each event of a device or an app.
    package static func list(_ trace: AdminAPI.Trace) -> Report {
        guard !trace.events.isEmpty else {
            return Report("Nothing in that time. Look further back with --since, for example --since 7d", json: trace)
        }
        let table = Table(
            [.text("WHEN"), .text("EVENT"), .text("APP"), .text("DEVICE"), .text("APNS-UNIQUE-ID"), .text("WHAT")],
            rows: trace.events.map { event in
                [
                    time(event.at), event.event, event.topic ?? "", event.deviceID ?? "", event.apnsUniqueID ?? "",
                    meaning(event),
                ]
            })
        let hint = trace.next.map { "\n\nThere is more: add --after \($0)" } ?? ""
        return Report(table.text + hint, json: trace)
    }

    private static func time(_ unixMilliseconds: Int64) -> String {
        LocalTime.text(unixSeconds: unixMilliseconds / 1000)
    }

    /// For example `340 ms`, `2.5 s`, `12 min 3 s`, `2 d 4 h`.
    package static func duration(_ milliseconds: Int64) -> String {
        // The clock was set back between the two.
        guard milliseconds >= 0 else { return "-" + duration(-max(milliseconds, -Int64.max)) }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 { return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s" }
        let seconds = milliseconds / 1000
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 86_400 { return "\(seconds / 3600) h \(seconds % 3600 / 60) min" }
        return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }

    /// A step in words, with its reason; a newer server may know others.
    private static func meaning(_ event: AdminAPI.TraceEvent) -> String {
        let step = TraceStep.allCases.first { $0.word == event.event }
        let detail = TraceDetail.allCases.first { $0.word != nil && $0.word == event.reason }
        let reason = detail?.meaning ?? event.reason
        return [step?.meaning, reason].compactMap { $0 }.joined(separator: ": ")
    }
}
