// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks lists of all channels, which cost the store's time and memory.
    struct ListingTests {
        @Test func `a team that reads none of its lists does not block another team's lists`() async throws {
            let tenants = try await Tenants(options: ["--loops", "1"])
            let hostile = try await tenants.add("TEAM000001", "org.hostile.App")
            let honest = try await tenants.add("TEAM000002", "org.honest.App")
            // The bodies are not empty, and the hostile team reads no byte of them.
            for topic in ["org.hostile.App", "org.honest.App"] {
                try await tenants.server.posthorn("channel", "create", topic)
            }
            let list = hostile.request.by("GET").at("/1/apps/org.hostile.App/all-channels").sending(nil)
            var (clients, statuses): ([HTTP2Client], [Int?]) = ([], [])
            for _ in 0..<16 {
                let client = try await HTTP2Client(hostile.target, window: 0)
                clients.append(client)
                for stream in try await client.openTogether(list.allFields, count: 2) {
                    statuses.append(try await client.head(stream).status)
                }
            }
            #expect(statuses.contains(200) && statuses.contains(429), "\(statuses)")
            let wanted = honest.request.by("GET").at("/1/apps/org.honest.App/all-channels").sending(nil)
            for _ in 0..<5 {
                let answer = try await honest.client.send(wanted)
                #expect(answer.status == 200, "\(answer)")
            }
            #expect(try await hostile.client.send(hostile.request).status == 200, "and its notifications go on")
        }
    }
}
