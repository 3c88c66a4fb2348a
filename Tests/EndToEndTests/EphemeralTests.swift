// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks the behavior of `posthornd --ephemeral` that a provider's own tests need.
    struct EphemeralTests {
        @Test(arguments: ["Unregistered", "ExpiredToken"])
        func `a requested 410 has the timestamp that clients parse`(reason: String) async throws {
            let server = try await EphemeralServer()
            try await server.admin.perform("POST", "/v1/ephemeral/fail", body: #"{"reason":"\#(reason)"}"#)
            let provider = try await APNsProvider(server.target)
            let refused = try await provider.send(
                SentNotification(token: server.topic.token, payload: #"{"aps":{"alert":"x"}}"#))
            #expect(refused.status == 410)
            #expect(refused.reason == reason)
            #expect((refused.timestamp ?? 0) > 1_700_000_000_000)
            let accepted = try await provider.send(
                SentNotification(token: server.topic.token, payload: #"{"aps":{"alert":"x"}}"#))
            #expect(accepted.status == 200)
        }

        @Test func `the built-in device does not count as cut off`() async throws {
            let server = try await EphemeralServer()
            let answer = try await server.admin.exchange("GET", "/v1/authorities")
            #expect(answer.body.contains(#""cut_off":0"#) && answer.body.contains(#""devices":1"#), "\(answer.body)")
        }

        @Test func `the built-in device returns when another device that used its secret is gone`() async throws {
            let server = try await EphemeralServer()
            let provider = try await APNsProvider(server.target)
            let curl = try RunningProcess(
                RepositoryPaths.tool("curl"),
                [
                    "--silent", "--no-buffer", "--cacert", server.line.caFile, "--header",
                    "authorization: Bearer \(server.topic.deviceSecret)",
                    "https://127.0.0.1:\(server.line.port)/v1/stream",
                ])
            try await eventually("the other device is attached") { curl.output.contains(":") }
            let sent = try await provider.send(
                SentNotification(token: server.topic.token, payload: #"{"aps":{"alert":"first"}}"#))
            #expect(sent.status == 200)
            try await eventually("the other device has it") { curl.output.contains("first") }
            try await curl.killNow()
            try await eventually("the built-in device has it too, since nobody acknowledged it") {
                try await server.admin.received().contains { $0.payload.contains("first") }
            }
        }
    }
}
