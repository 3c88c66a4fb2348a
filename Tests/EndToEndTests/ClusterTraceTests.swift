// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// The history of notifications and a webhook with two servers that share a database in PostgreSQL.
    @Suite(.needsPostgres) struct ClusterTraceTests {
        private static let mail = "org.example.Mail"
        private let nodes: [InstalledServer]
        private let target: ProviderTarget
        private let device: PlainDevice
        private let webhook: WebhookServer
        private let files: TemporaryDirectory

        init() async throws {
            let database = try await PostgresDatabase()
            files = try TemporaryDirectory()
            // The authority of the first node signs the certificate of the back-end.
            let authority = files.path(of: "webhook.pem")
            var nodes: [InstalledServer] = []
            for number in 1...2 {
                let port = try FreePort.find()
                let trust = number == 1 ? [] : ["--webhook-ca-file", authority]
                let node = try await InstalledServer(
                    options: [
                        "--store-url", database.address, "--cluster-node", "n\(number)",
                        "--cluster-address", "127.0.0.1:\(port)", "--cluster-key-file", files.path(of: "cluster.key"),
                    ] + trust, port: port, trustsItself: number == 1)
                if number == 1 { try FileManager.default.copyItem(atPath: node.authorityFile, toPath: authority) }
                nodes.append(node)
            }
            self.nodes = nodes
            target = try await nodes[0].addApp(Self.mail)
            device = try await PlainDevice(nodes[0], target)
            webhook = try await WebhookServer(certificatesOf: nodes[0])
            SecretWords.add("a webhook secret", WebhookServer.secret)
            let file = try files.write(WebhookServer.secret + "\n", to: "secret")
            try await nodes[0].posthorn(
                "app", "set", Self.mail, "--webhook", webhook.url, "--webhook-secret-file", file)
        }

        /// Sends notifications at a node, and reports at a node that they were shown; returns their IDs.
        private func send(_ count: Int, at node: Int, reportAt other: Int) async throws -> [String] {
            let notification = SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#)
            let provider = try await APNsProvider(target(at: node))
            let sent = try await provider.send(Array(repeating: notification, count: count), concurrency: 1)
            #expect(sent.allSatisfy { $0.status == 200 })
            let ids = sent.map(\.id)
            var numbers: [Int64] = []
            // The other node finds the events of this one within about a second.
            try await eventually("the numbers are known") {
                numbers = try await nodes[other].numbers(of: ids, app: Self.mail)
                return numbers.count == count
            }
            try await device.report(numbers.map { ($0, "shown") }, to: target(at: other))
            return ids
        }

        private func target(at node: Int) -> ProviderTarget {
            var target = target
            target.port = nodes[node].port
            return target
        }

        private func waitForEvents(_ ids: [String]) async throws {
            try await eventually("the back-end has it all", within: .seconds(60)) {
                let received = try await webhook.received()
                return ids.allSatisfy { received.words($0) == ["acknowledged", "shown"] }
            }
        }

        @Test func `a webhook gets each event of two nodes once, and every node knows the history`() async throws {
            var ids: [String] = []
            for round in 0..<4 { ids += try await send(5, at: round % 2, reportAt: round / 2) }
            try await waitForEvents(ids)
            let received = try await webhook.received()
            #expect(received.bad == [] && received.events.count == 40)
            #expect(received.events.map(\.id) == Array(Set(received.events.map(\.id))).sorted())
            #expect(received.events.allSatisfy { $0.deviceToken == device.token && $0.apnsID != nil })
            for node in nodes {
                for id in [ids[0], ids[19]] {
                    let text = try await node.posthorn("trace", id).output
                    for word in ["accepted from", "stored", "received by the device", "shown"] {
                        #expect(text.contains(word), "\(word) in:\n\(text)")
                    }
                }
            }
        }

        @Test(.tags(.slow)) func `when the node that delivers to webhooks is killed, the other one continues`()
            async throws
        {
            try await waitForEvents(try await send(3, at: 0, reportAt: 0))
            var ids: [String] = []
            for killed in [0, 1] {
                let other = 1 - killed
                try await nodes[killed].process.killNow()
                let target = target(at: other)
                let provider = try await APNsProvider(target)
                let notification = SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#)
                let sent = try await provider.send(Array(repeating: notification, count: 5), concurrency: 1)
                #expect(sent.allSatisfy { $0.status == 200 })
                let numbers = try await nodes[other].numbers(of: sent.map(\.id), app: Self.mail)
                try await device.report(numbers.map { ($0, "shown") }, to: target)
                ids += sent.map(\.id)
                try await waitForEvents(ids)
                try await nodes[killed].start()
            }
            #expect(try await webhook.received().bad == [])
        }
    }
}
