// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks traces of notifications in `posthorn trace` and the admin API.
    struct TraceTests {
        private struct Trace: Decodable {
            let events: [Event]
            let next: Int64?

            /// The steps with their reasons.
            var words: [String] { events.map { $0.event + ($0.reason.map { "/\($0)" } ?? "") } }
        }

        private struct Event: Decodable {
            let event: String
            let reason: String?
            let at: Int64
            let deviceID: String?
            let topic: String?

            private enum CodingKeys: String, CodingKey {
                case event, reason, at, topic
                case deviceID = "device_id"
            }
        }

        private func trace(_ server: InstalledServer, _ arguments: String...) async throws -> Trace {
            try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["trace", "--json"] + arguments,
                environment: ["POSTHORN_ADMIN_SOCKET": server.admin.path]
            ).succeeded().decoded(Trace.self)
        }

        @Test func `a notification is traced from the back-end to the agent's settings`() async throws {
            let stack = try await TestStack()
            let badge = try await stack.provider.send(
                SentNotification(token: stack.token, payload: #"{"aps":{"badge":3}}"#))
            let silent = try await stack.provider.send(
                SentNotification(token: stack.token, payload: #"{"aps":{"content-available":1}}"#))
            let expected = [(badge, "shown/badge-only"), (silent, "suppressed/nothing-to-show")]
            for (sent, last) in expected {
                try await eventually("the trace ends with \(last)", evidence: { stack.user.agent.now.transcript }) {
                    // The server does not store a notification that the agent acknowledges immediately.
                    try await trace(stack.server, sent.id).words.filter { $0 != "stored" }
                        == ["accepted", "sent", "acknowledged", last]
                }
            }
            let text = try await stack.server.posthorn("trace", badge.id.uppercased()).output
            for word in ["apns-unique-id", TestStack.app, "0 ms", "shown: badge only"] {
                #expect(text.contains(word), "\(word) in:\n\(text)")
            }
        }

        @Test(arguments: ["9D5A1E0C-4F7B-4C39-8B1A-0E6C2F7D3A55", "9d5a1e0c-4f7b-4c39-8b1a-0e6c2f7d3a55"])
        func `an apns-id is shown as the provider wrote it`(id: String) async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let provider = try await APNsProvider(target)
            _ = try await provider.send(
                SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#, id: id))
            for asked in [id.lowercased(), id.uppercased()] {
                #expect(try await server.posthorn("trace", asked).output.contains(id))
            }
        }

        @Test func `a device and an app are traced page by page`() async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let provider = try await APNsProvider(target)
            let sent = try await provider.send(
                (0..<3).map { _ in SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#) })
            #expect(sent.allSatisfy { $0.status == 200 })
            let first = try #require(try await server.numbers(app: target.topic).first)
            try await device.report([(first, "delivered"), (first, "shown"), (first, "viewed")], to: target)
            let whole = try await trace(server, "--device", device.id)
            #expect(whole.words.suffix(3) == ["acknowledged", "shown", "viewed"] && whole.events.count == 9)
            #expect(whole.events.allSatisfy { $0.deviceID == device.id && $0.topic == "org.example.Mail" })
            #expect(whole.events.map(\.at) == whole.events.map(\.at).sorted())
            let start = try await trace(server, "--app", "org.example.Mail", "--limit", "4", "--after", "0")
            let rest = try await trace(
                server, "--app", "org.example.Mail", "--after", "\(try #require(start.next))")
            #expect(start.words + rest.words == whole.words && rest.next == nil)
            let page = try await server.posthorn("trace", "--device", device.id, "--limit", "4", "--since", "5m").output
            // The newest events come last; earlier ones are left out.
            #expect(page.contains("opened by the user") && page.contains("begin with --after 0"))
            #expect(!page.contains("accepted from"))
        }

        @Test func `an invalid or unknown ID gets a clear answer`() async throws {
            let server = try await InstalledServer()
            func ask(_ parameters: String) async throws -> String {
                let answer = try await server.admin.exchange("GET", "/v1/trace\(parameters)")
                return "\(answer.status) \(answer["error"] ?? "")"
            }
            #expect(try await ask("?id=0f2b7a3e-5c1d-4e8f-9a6b-7c8d9e0f1a2b") == "404 UnknownNotification")
            #expect(try await ask("?app=no.such") == "404 UnknownTopic")
            #expect(try await ask("?device=00a1b2c3d4e5f607") == "404 UnknownDevice")
            let device = try await PlainDevice(server, try await server.addApp("org.example.Mail"))
            #expect(try await ask("?device=\(device.id)") == "200 ")
            let bad = [
                "", "?id=1", "?device=1", "?id=0f2b7a3e-5c1d-4e8f-9a6b-7c8d9e0f1a2b&app=a", "?app=a&limit=0",
                "?app=a&limit=1001", "?app=a&since=-1", "?app=a&after=x", "?app=a&color=blue",
            ]
            for parameters in bad { #expect(try await ask(parameters) == "400 BadParameter", "\(parameters)") }
            let unknown = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["trace", "0f2b7a3e-5c1d-4e8f-9a6b-7c8d9e0f1a2b"],
                environment: ["POSTHORN_ADMIN_SOCKET": server.admin.path])
            #expect(unknown.exit == .code(4) && unknown.errorOutput.contains("did not accept it"))
        }

        @Test func `a disabled trace is reported as such, and stores nothing`() async throws {
            let server = try await InstalledServer(options: ["--trace", "off"])
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let provider = try await APNsProvider(target)
            #expect(
                try await provider.send(SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#))
                    .status
                    == 200)
            for (method, path, body) in [
                ("GET", "/v1/trace?device=\(device.id)", nil),
                ("PUT", "/v1/apps/org.example.Mail/webhook", #"{"url":"https://example.org/"}"#),
            ] as [(String, String, String?)] {
                let answer = try await server.admin.exchange(method, path, body)
                #expect(answer.status == 409 && answer["error"] == "TraceOff", "\(answer)")
                #expect(answer["detail"]?.contains("trace = on") == true)
            }
        }
    }
}
