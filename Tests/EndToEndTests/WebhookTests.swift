// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks a back-end that receives the outcomes of its notifications, and is not always available.
    struct WebhookTests {
        private static let mail = "org.example.Mail"
        private let server: InstalledServer
        private let target: ProviderTarget
        private let device: PlainDevice
        private let webhook: WebhookServer

        init() async throws {
            server = try await InstalledServer(trustsItself: true)
            target = try await server.addApp(Self.mail)
            device = try await PlainDevice(server, target)
            webhook = try await WebhookServer(certificatesOf: server)
        }

        private func setWebhook() async throws {
            SecretWords.add("a webhook secret", WebhookServer.secret)
            let file = try server.files.write(WebhookServer.secret + "\n", to: "secret")
            try await server.posthorn("app", "set", Self.mail, "--webhook", webhook.url, "--webhook-secret-file", file)
        }

        private func send(_ count: Int) async throws -> [String] {
            let notification = SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#)
            let provider = try await APNsProvider(target)
            let sent = try await provider.send(Array(repeating: notification, count: count), concurrency: 1)
            #expect(sent.allSatisfy { $0.status == 200 })
            return sent.map(\.id)
        }

        private func sequences(of ids: [String]) async throws -> [Int64] {
            try await server.numbers(of: ids, app: Self.mail)
        }

        private func waitForEvents(_ ids: [String], _ words: [String]) async throws {
            let timeout = Duration.seconds(60)
            try await eventually(
                "the back-end has it all", within: timeout, evidence: { server.process.now.transcript }
            ) {
                let received = try await webhook.received()
                return ids.allSatisfy { received.words($0) == words }
            }
        }

        private var shown: String { get async throws { try await server.posthorn("app", "show", Self.mail).output } }

        @Test func `a back-end receives the outcomes of its notifications in order`() async throws {
            try await setWebhook()
            let ids = try await send(3)
            try await device.report(
                try await sequences(of: ids).flatMap { [($0, "delivered"), ($0, "shown"), ($0, "viewed")] }, to: target)
            try await waitForEvents(ids, ["acknowledged", "shown", "viewed"])
            let received = try await webhook.received()
            #expect(received.bad == [] && received.refusedCount == 0)
            #expect(received.events.map(\.id) == received.events.map(\.id).sorted())
            #expect(received.events.allSatisfy { $0.topic == Self.mail && $0.deviceToken == device.token })
            let text = try await shown
            #expect(text.contains(webhook.url) && !text.contains("Failing"))
            try await server.posthorn("app", "set", Self.mail, "--no-webhook")
            #expect(try await !shown.contains("Webhook"))
        }

        @Test(.tags(.slow)) func `a back-end that hangs, redirects and fails gets every event after it recovers`()
            async throws
        {
            try await webhook.behave("hang", "redirect", "500", "cut")
            try await setWebhook()
            let ids = try await send(2)
            try await device.report(Array(zip(try await sequences(of: ids), ["shown", "closed"])), to: target)
            try await eventually("it is said that the webhook fails") { try await shown.contains("Failing") }
            try await waitForEvents([ids[0]], ["acknowledged", "shown"])
            try await waitForEvents([ids[1]], ["acknowledged", "closed"])
            let received = try await webhook.received()
            #expect(received.bad == [] && received.refusedCount == 4)
            try await eventually("it does not fail any more") { try await !shown.contains("Failing") }
            let log = server.process.now.errorOutput
            #expect(log.contains("event=webhook_failing") && log.contains("event=webhook_recovered"))
        }

        @Test(.tags(.slow)) func `a redirect to another server is not followed, with GET or with POST`() async throws {
            let elsewhere = try await WebhookServer(certificatesOf: server)
            try await webhook.behave("302:\(elsewhere.url)", "307:\(elsewhere.url)")
            try await setWebhook()
            let ids = try await send(1)
            try await device.report(try await sequences(of: ids).map { ($0, "shown") }, to: target)
            try await waitForEvents(ids, ["acknowledged", "shown"])
            let received = try await webhook.received()
            #expect(received.bad == [] && received.refusedCount == 2)
            let other = try await elsewhere.received()
            #expect(other.askedCount == 0 && other.events.isEmpty, "\(other)")
        }

        @Test(.tags(.slow)) func `nothing is lost when the server is killed while the back-end is away`() async throws {
            try await webhook.behave("500", "500")
            try await setWebhook()
            var ids = try await send(20)
            try await device.report(try await sequences(of: ids).map { ($0, "shown") }, to: target)
            try await eventually("the back-end was asked") { try await webhook.received().refusedCount > 0 }
            for _ in 1...3 {
                try await server.process.killNow()
                try await server.start()
                let more = try await send(20)
                try await device.report(try await sequences(of: more).map { ($0, "shown") }, to: target)
                ids += more
            }
            try await waitForEvents(ids, ["acknowledged", "shown"])
            #expect(try await webhook.received().bad == [])
        }

        @Test(arguments: [
            "ftp://example.org/", "example.org", "https://", "http://example.org/", "https://user@example.org/",
            "https://example.org:0/", "https://example.org/#part", "https://exämple.org/",
        ])
        func `an invalid webhook URL is refused with a remedy`(url: String) async throws {
            let body = #"{"url":"\#(url)"}"#
            let answer = try await server.admin.exchange("PUT", "/v1/apps/\(Self.mail)/webhook", body)
            #expect(answer.status == 400 && answer["error"] == "BadURL", "\(answer)")
        }

        @Test func `a secret is generated and shown once unless one is given`() async throws {
            let path = "/v1/apps/\(Self.mail)/webhook"
            let made = try await server.admin.exchange("PUT", path, #"{"url":"http://127.0.0.1:9/"}"#)
            #expect(made["secret"]?.count == 43)
            let given = try await server.admin.exchange(
                "PUT", path, #"{"url":"http://127.0.0.1:9/","secret":"sixteen bytes at least"}"#)
            #expect(given.status == 200 && given["secret"] == nil)
            let short = try await server.admin.exchange("PUT", path, #"{"url":"http://[::1]:9/","secret":"short"}"#)
            #expect(short.status == 400 && short["error"] == "BadSecret")
            #expect(try await server.admin.exchange("GET", "/v1/apps/\(Self.mail)").body.contains("secret") == false)
            #expect(try await server.admin.exchange("DELETE", path).status == 204)
        }
    }
}
