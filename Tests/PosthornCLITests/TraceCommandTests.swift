// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
import PushAPI
internal import PushCore
import Testing

struct TraceCommandTests {
    private static let id = "0f2b7a3e-5c1d-4e8f-9a6b-7c8d9e0f1a2b"

    @Test(arguments: [
        ([id], "/v1/trace?id=\(id)&limit=1000"),
        (["--device", "00a1b2c3d4e5f607"], "/v1/trace?device=00a1b2c3d4e5f607&since=13600000"),
        (["--app", "a&b", "--since", "1h"], "/v1/trace?app=a%26b&since=96400000"),
        (["--app", "a", "--since", "30s", "--limit", "7"], "/v1/trace?app=a&since=99970000&limit=7"),
        (["--app", "a", "--since", "2m", "--after", "99"], "/v1/trace?app=a&since=99880000&after=99"),
    ])
    func `trace sends its arguments to the server`(words: [String], path: String) throws {
        let request = try TraceCommand.request(try typed(["trace"] + words), now: Timestamp(unixSeconds: 100_000))
        #expect(request.method == "GET" && request.path == path && request.body.isEmpty)
    }

    @Test(arguments: [
        [], [id, "--app", "a"], ["--app", "a", "--device", "b"], [id, "--since", "1h"], [id, "--after", "1"],
        ["--app", "a", "--since", "1"], ["--app", "a", "--since", "h"], ["--app", "a", "--since", "0h"],
        ["--app", "a", "--since", "-1h"], ["--app", "a", "--since", "1w"],
        ["--app", "a", "--since", "99999999999999999999d"], ["--app", "a", "--since", "36501d"],
        ["--app", "a", "--limit", "0"], ["--app", "a", "--limit", "1001"], ["--app", "a", "--after", "x"],
    ])
    func `invalid arguments are a usage error`(words: [String]) throws {
        let invocation = try typed(["trace"] + words)
        let error = thrown { () throws(CommandError) in
            _ = try TraceCommand.request(invocation, now: Timestamp(unixSeconds: 100_000))
        }
        #expect(error?.exitCode == .usage)
    }

    private func event(_ word: String, _ reason: String? = nil, at: Int64, sequence: Int64 = 1, device: String? = "d")
        -> TraceAPI.Event
    {
        let isFirst = word == "accepted"
        return TraceAPI.Event(
            event: word, reason: reason, at: Timestamp(unixMilliseconds: at), sequence: sequence, deviceID: device,
            topic: isFirst ? "org.example.Mail" : nil, apnsID: isFirst ? Self.id : nil,
            apnsUniqueID: isFirst ? "unique \(sequence)" : nil)
    }

    @Test func `a timeline describes a notification and the duration of each step`() {
        let trace = TraceAPI.Trace(events: [
            event("accepted", at: 5000), event("sent", at: 5012), event("suppressed", "master-off", at: 67_000),
            event("accepted", at: 9000, sequence: 2), event("invented", "later", at: 9001, sequence: 2),
        ])
        let text = TraceCommand.timeLines(trace).text
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines[0] == "apns-id \(Self.id)" && lines[1] == "apns-unique-id unique 1")
        #expect(lines[2] == "App org.example.Mail" && lines[3] == "Device d")
        #expect(lines[6].hasSuffix("12 ms sent sent to the device"))
        #expect(lines[7].hasSuffix("1 min 2 s suppressed not shown: notifications are turned"))
        #expect(lines[8] == "off (master switch)")
        #expect(lines[10] == "apns-unique-id unique 2")
        #expect(lines.last?.hasSuffix("1 ms invented later") == true)
    }

    @Test func `a broadcast's timeline names the device of each step`() {
        let trace = TraceAPI.Trace(events: [
            event("accepted", at: 0, device: nil), event("shown", at: 1, device: "a"),
            event("shown", at: 2, device: "b"),
        ])
        let text = TraceCommand.timeLines(trace).text
        #expect(text.contains("Devices         2 (broadcast)") && text.contains("DEVICE"))
    }

    @Test func `a list says how to continue, and an empty one where to look`() {
        let more = TraceCommand.list(TraceAPI.Trace(events: [event("accepted", at: 0)], next: 4711), of: true)
        #expect(more.text.hasSuffix("More events follow: add --after 4711"))
        let cut = TraceCommand.list(TraceAPI.Trace(events: [event("accepted", at: 0)], hasEarlier: true), of: true)
        #expect(cut.text.contains("There are earlier events"))
        #expect(TraceCommand.list(TraceAPI.Trace(events: []), of: true).text.contains("--since 7d"))
    }

    @Test func `a list fits 80 columns and loses no word of the detail`() {
        let long = TraceAPI.Event(
            event: "suppressed", reason: "app-not-installed", at: .unixEpoch, sequence: 1, deviceID: "00a1b2c3d4e5f607",
            topic: TopicName("org.example." + String(repeating: "a", count: 60)), apnsID: Self.id, apnsUniqueID: Self.id
        )
        let unregistered = event("unregistered", at: 1)
        for isOfApp in [false, true] {
            let text = TraceCommand.list(TraceAPI.Trace(events: [long, unregistered]), of: isOfApp).text
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
            let words = text.split { $0 == " " || $0 == "\n" }
            for word in TraceStep.unregistered.meaning.split(separator: " ") { #expect(words.contains(word)) }
        }
    }

    @Test func `a notification that waits has the reason in its last line`() {
        let trace = TraceAPI.Trace(events: [event("accepted", at: 0), event("stored", at: 1)])
        var device = AdminAPI.Device(
            deviceID: "d", name: "n", platform: "linux", enrolledAt: .unixEpoch, connected: false, topics: [],
            pendingCount: 1, seenAt: .unixEpoch)
        func last() -> Substring? {
            TraceCommand.timeLines(trace, waiting: device).text.split(separator: "\n").last
        }
        #expect(last()?.hasPrefix("waiting: the device is offline since 19") == true)
        device.connected = true
        #expect(last() == "waiting: the device is connected and has not acknowledged the notification yet")
        #expect(!TraceCommand.timeLines(trace).text.contains("waiting"))
    }

    @Test(arguments: [
        (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "59.9 s"), (60_000, "1 min 0 s"),
        (3_599_999, "59 min 59 s"), (3_600_000, "1 h 0 min"), (86_400_000, "1 d 0 h"), (-1500, "-1.5 s"),
        (Int64.min, "-106751991167 d 7 h"),
    ])
    func `a duration is shown with suitable units`(milliseconds: Int64, text: String) {
        #expect(TraceCommand.duration(milliseconds) == text)
    }

    // MARK: Webhooks

    @Test(arguments: [
        ["--webhook", "https://a", "--no-webhook"], ["--webhook-secret-file", "f"],
        ["--no-webhook", "--webhook-secret-file", "f"], [],
    ])
    func `webhook options that conflict are a usage error`(words: [String]) throws {
        let code = AdminProgram.run(["app", "set", "a"] + words + ["--socket", "/nowhere"], in: .empty)
        #expect(code == .usage)
    }

    @Test func `an app's webhook is shown with its problem and a generated secret`() {
        var app = AdminAPI.App(topic: "a", name: "A", teamID: "T", registrationCount: 0, pendingCount: 0)
        #expect(!AppCommands.report(of: app).text.contains("Webhook"))
        app.webhook = TraceAPI.Webhook(
            url: "https://a", failingSince: .unixEpoch, problem: "it answered 500", secret: "s3cret")
        let text = AppCommands.report(of: app).text
        for word in ["Webhook", "https://a", "Failing", "it answered 500", "Secret", "s3cret", "not shown again"] {
            #expect(text.contains(word))
        }
    }
}
