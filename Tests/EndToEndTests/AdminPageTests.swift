// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Compares docs/reference/admin-api.md with a real server.
    struct AdminPageTests {
        private let server: EphemeralServer
        private let page = readText("\(RepositoryPaths.root)/docs/reference/admin-api.md")

        init() async throws { server = try await EphemeralServer() }

        @Test func `every path on the page has the methods that the page lists, and no other`() async throws {
            let requests = page.matches(of: /\n\| `([A-Z]+) (\/v1\/[^`]+)` \|/).map { (String($0.1), String($0.2)) }
            #expect(requests.count > 15)
            for (path, listed) in Dictionary(grouping: requests, by: { $0.1 }) {
                let target = path.replacing(/[A-Z-]{2,}/, with: "0123456789abcdef")
                let answer = try await server.admin.exchange("OPTIONS", target)
                let allowed = Set((answer.allowed ?? "").split(separator: ", ").map(String.init))
                #expect(answer.status == 405 && allowed == Set(listed.map { $0.0 }), "\(path): \(answer)")
            }
        }

        private func quota(of topic: String) async throws -> AdminSocket.Answer {
            try await server.admin.exchange("PATCH", "/v1/quotas/topic/\(topic)", #"{"rate":5}"#)
        }

        @Test func `the page lists every member of the objects, and no other`() async throws {
            let topic = "/v1/apps/\(server.topic.topic)"
            let admin = server.admin
            try await admin.perform("PATCH", topic, body: #"{"broadcasts":true}"#)
            let key = try await admin.exchange(
                "POST", "/v1/keys", #"{"topics":["\#(server.topic.topic)"],"environment":"production"}"#)
            let objects = [
                "app": try await admin.exchange("GET", topic),
                "channel": try await admin.exchange("POST", "\(topic)/channels", "{}"), "key": key,
                "quota": try await quota(of: server.topic.topic),
                "device": try await admin.exchange("GET", "/v1/devices/\(server.topic.deviceID)"),
            ]
            for (name, answer) in objects {
                let row = try #require(page.matches(of: /\n\| ([a-z]+) \| (.+) \|/).first { $0.1 == name }?.2)
                let members = row.matches(of: /`([a-z_]+)`(\??)/)
                let listed = Set(members.map { String($0.1) })
                let needed = Set(members.filter { $0.2.isEmpty }.map { String($0.1) })
                let value = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
                let object = try #require((value?["quotas"] as? [[String: Any]])?.first ?? value)
                // A key's private half is returned only once. The page documents it with that request.
                let given = Set(object.keys).subtracting(["private_key"])
                #expect(given.isSubset(of: listed) && needed.isSubset(of: given), "\(name): \(answer.body)")
            }
        }
    }
}
