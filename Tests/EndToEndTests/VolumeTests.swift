// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Sends many notifications, and many invalid requests, over one connection.
    struct VolumeTests {
        @Test(.tags(.slow))
        func `ten thousand notifications over one connection to a hundred topics all arrive, each once`() async throws {
            let topics = (0..<100).map { "org.example.App\($0)" }
            let server = try await EphemeralServer(topics: topics)
            let provider = try await APNsProvider(server.target)
            let notifications = (0..<10_000).map { number in
                let topic = server.line.topics[number % topics.count]
                return SentNotification(
                    token: topic.token, payload: #"{"aps":{"badge":\#(number)},"number":\#(number)}"#,
                    topic: topic.topic)
            }
            let results = try await provider.send(notifications, concurrency: 1000, within: .seconds(120))
            #expect(results.count { $0.status == 200 } == 10_000)

            try await eventually("all are acknowledged", within: .seconds(60)) {
                let counts = try await server.admin.status().counts
                return counts.acknowledged == 10_000 && counts.pending == 0
            }
            let received = try await server.admin.received()
            #expect(received.count == 10_000)
            #expect(Set(received.compactMap { $0.headers["apns-id"] }) == Set(results.map(\.id)))
            #expect(Set(received.compactMap { $0.headers["apns-unique-id"] }).count == 10_000)
            for topic in server.line.topics {
                let payloads = received.filter { $0.topic == topic.topic }.map(\.payload)
                #expect(payloads.count == 100)
                #expect(received.filter { $0.topic == topic.topic }.allSatisfy { $0.token == topic.token })
            }
        }

        @Test func `a server still serves a connection after a thousand errors`() async throws {
            let server = try await EphemeralServer()
            let provider = try await APNsProvider(server.target)
            let unknown = String(repeating: "deadbeef", count: 8)
            let bad = (0..<1000).map { _ in SentNotification(token: unknown, payload: #"{"aps":{}}"#) }
            let results = try await provider.send(bad, concurrency: 500)
            #expect(results.count { $0.status == 400 && $0.reason == "BadDeviceToken" } == 1000)
            let good = try await provider.send(SentNotification(token: server.topic.token, payload: #"{"aps":{}}"#))
            #expect(good.status == 200)
        }
    }
}
