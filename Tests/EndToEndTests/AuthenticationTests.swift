// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Checks which provider tokens may send.
    struct AuthenticationTests {
        @Test func `a provider token that is malformed, foreign or outside its hour is refused`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let good = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
            let foreign = try await client.providerToken(foreignKey: true)
            let cases: [(String, String?, String)] = [
                ("none", nil, "MissingProviderToken"),
                ("foreign key", foreign, "InvalidProviderToken"),
                ("key ID of nobody", try await client.providerToken(keyID: "AAAAAAAAAA"), "InvalidProviderToken"),
                ("other team", try await client.providerToken(teamID: "AAAAAAAAAA"), "InvalidProviderToken"),
                ("no signature", "e30.e30.", "InvalidProviderToken"),
                ("no token at all", "hello", "InvalidProviderToken"),
                ("an hour and a minute old", try await client.providerToken(ageSeconds: 3660), "ExpiredProviderToken"),
                (
                    "an hour and a minute ahead", try await client.providerToken(ageSeconds: -3660),
                    "ExpiredProviderToken"
                ),
            ]
            for (name, token, reason) in cases {
                let request = good.with("authorization", token.map { "bearer \($0)" })
                check(
                    try await client.send(request),
                    RejectionTests.Case(name: name, status: 403, reason: reason, request: request))
            }
            #expect(try await server.admin.received().isEmpty)
        }

        @Test func `a signature with one changed character is refused`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            var token = Array(try await client.providerToken())
            let place = token.count - 20
            token[place] = token[place] == "A" ? "B" : "A"
            let request = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: String(token))
            #expect(try await client.send(request).status == 403)
        }

        @Test func `a key for one topic may not send to another`() async throws {
            let server = try await InstalledServer()
            let mail = try await server.addApp("org.example.Mail")
            try await server.posthorn("app", "add", "org.example.Chat")
            let client = try await HTTP2Client(mail)
            let request = ProviderRequest(
                token: String(repeating: "ab", count: 32), topic: "org.example.Chat",
                providerToken: try await client.providerToken())
            check(
                try await client.send(request),
                RejectionTests.Case(name: "scope", status: 400, reason: "TopicDisallowed", request: request))
        }

        @Test func `a revoked key can no longer send, even on an open connection`() async throws {
            let server = try await InstalledServer()
            let mail = try await server.addApp("org.example.Mail")
            let client = try await HTTP2Client(mail)
            let request = ProviderRequest(
                token: String(repeating: "ab", count: 32), topic: mail.topic,
                providerToken: try await client.providerToken())
            #expect(try await client.send(request).data == [#"{"reason":"BadDeviceToken"}"#])
            try await server.posthorn("key", "revoke", mail.keyID)
            try await eventually("the key is refused") { try await client.send(request).status == 403 }
        }

        @Test(arguments: [
            (["--http2"], "200 2"), (["--no-alpn", "--http2-prior-knowledge"], "200 2"), (["--http1.1"], "200 1.1"),
        ])
        func `curl sends over each version of HTTP`(options: [String], answer: String) async throws {
            let server = try await EphemeralServer()
            let target = server.target
            let signer = try await HTTP2Client(target)
            let payload = #"{"aps":{"alert":"test"}}"#
            let result = try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                options + [
                    "-sS", "--cacert", target.caFile, "-o", "/dev/null", "-w", "%{http_code} %{http_version}",
                    "-H", "authorization: bearer \(try await signer.providerToken())",
                    "-H", "apns-topic: \(target.topic)", "-H", "apns-push-type: alert",
                    "--data-binary", payload, "\(target.url)/3/device/\(server.topic.token)",
                ]
            ).succeeded()
            #expect(result.output == answer)
            try await eventually("the device has it") { try await server.admin.received().map(\.payload) == [payload] }
        }
    }
}
