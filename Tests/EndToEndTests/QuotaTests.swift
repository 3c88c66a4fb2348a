// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks rates and quotas of a real server, over HTTP/2.
    struct QuotaTests {
        private static let (ours, theirs) = ("TEAM000001", "TEAM000002")

        /// Starts a server for a test of daily limits, and waits first if the day could change during the test.
        private func tenantsOfOneDay(options: [String] = []) async throws -> Tenants {
            try await UTCDay.waitForRoom()
            return try await Tenants(options: options)
        }

        @Test(.tags(.slow), arguments: ["team", "key", "topic"])
        func `a rate covers all connections together, and a sender that waits is served`(kind: String) async throws {
            let tenants = try await Tenants(options: ["--loops", "2", "--device-rate", "0"])
            let (mail, chat) = (
                try await tenants.add(Self.ours, "org.example.Mail"),
                try await tenants.add(Self.theirs, "org.other.Chat")
            )
            let name = ["team": Self.ours, "key": mail.target.keyID, "topic": "org.example.Mail"][kind] ?? ""
            try await tenants.server.posthorn("quota", "set", "--\(kind)", name, "--rate", "1", "--burst", "3")
            let clock = ContinuousClock()
            let start = clock.now
            var answers: [HTTP2Response] = []
            for _ in 0..<4 { answers += try await HTTP2Client(mail.target).send(mail.request, count: 15) }
            let seconds = Int((clock.now - start).components.seconds)
            #expect(answers.acceptedCount >= 3 && answers.acceptedCount <= 3 + seconds + 1)
            let refused = answers.refused
            #expect(refused.count == answers.count - answers.acceptedCount && !refused.isEmpty)
            for answer in refused {
                #expect(answer.field("retry-after") == "1" && answer.field("ratelimit-remaining") == "0")
                #expect(answer.field("ratelimit-limit") == "3", "\(answer)")
                #expect(answer.field("posthorn-detail")?.contains("--\(kind) \(name)") == true, "\(answer)")
            }
            #expect(try await tenants.server.admin.status().counts.pending == answers.acceptedCount)

            let others = try await chat.client.send(chat.request, count: 20)
            #expect(others.acceptedCount == 20)
            #expect(others.allSatisfy { $0.field("ratelimit-limit") == nil }, "nobody hears of another's limits")
            try await Task.sleep(for: .seconds(1))
            let served = try await mail.client.send(mail.request)
            #expect(served.status == 200 && served.field("ratelimit-limit") == "3")
        }

        @Test func `a daily quota survives restarts, and counts accepted notifications`() async throws {
            let tenants = try await tenantsOfOneDay(options: ["--topic-daily", "100"])
            let mail = try await tenants.add(Self.ours, "org.example.Mail")
            try await tenants.server.posthorn("quota", "set", "--topic", "org.example.Mail", "--daily", "5")
            #expect(try await mail.client.send(mail.request).field("ratelimit-remaining") == "4")
            let wrong = try await mail.client.send(mail.request.sending("{"), count: 5)
            #expect(wrong.allSatisfy { $0.status == 400 && $0.field("ratelimit-remaining") == "4" })
            try await restart(tenants.server, by: SIGTERM)
            let answers = try await HTTP2Client(mail.target).send(mail.request, count: 10)
            try await restart(tenants.server, by: SIGKILL)
            let after = try await HTTP2Client(mail.target).send(mail.request, count: 3)
            #expect(answers.acceptedCount == 4 && answers.refused.count == 6)
            let wait = answers.refused.first?.field("retry-after").flatMap(Int.init) ?? 0
            let left = 86_400 - Int(Date().timeIntervalSince1970) % 86_400
            #expect((left...left + 600).contains(wait), "\(wait) of \(left)")
            // The kill loses the counts of the last seconds. The counter never exceeds the number sent.
            #expect(after.acceptedCount + after.refused.count == 3)
            let remaining = after.first?.field("ratelimit-remaining").flatMap(Int.init) ?? 5
            #expect(remaining <= 3, "what was written down at the first end is not lost")
        }

        @Test(.tags(.slow)) func `a kill loses only the last seconds of a day's count`() async throws {
            let tenants = try await tenantsOfOneDay(options: ["--team-daily", "1000"])
            let mail = try await tenants.add(Self.ours, "org.example.Mail")
            var used = 0
            // One kill suffices unless the machine is so busy that nothing is saved for a while.
            for _ in 0..<10 where used == 0 {
                #expect(try await HTTP2Client(mail.target).send(mail.request).status == 200)
                try await Task.sleep(for: .seconds(6))
                try await restart(tenants.server, by: SIGKILL)
                let list: Quotas = try await tenants.server.admin.request("GET", "/v1/quotas/team/\(Self.ours)")
                used = 1000 - (list.quotas.first?.remaining ?? 1000)
            }
            #expect(used == 1)
        }

        private func restart(_ server: InstalledServer, by signal: Int32) async throws {
            server.process.now.send(signal)
            _ = try await server.process.now.waitForExit()
            try await server.start()
        }

        @Test func `a device token has a rate of its own, and reports it before it is used up`() async throws {
            let tenants = try await Tenants(options: ["--device-rate", "1/6", "--pending-per-topic", "1000"])
            let (mail, chat) = (
                try await tenants.add(Self.ours, "org.example.Mail"),
                try await tenants.add(Self.ours, "org.example.Chat")
            )
            let first = try await mail.client.send(mail.request)
            #expect(first.status == 200 && first.field("ratelimit-limit") == nil)
            let answers = try await mail.client.send(mail.request, count: 60)
            #expect(!answers.refused.isEmpty && answers.acceptedCount >= 5)
            #expect(answers.contains { $0.status == 200 && $0.field("ratelimit-limit") == "6" })
            #expect(
                answers.refused.allSatisfy {
                    $0.field("posthorn-detail")?.contains("this device token") == true && $0.field("retry-after") == "1"
                })
            #expect(try await chat.client.send(chat.request).status == 200, "another app on the same device")
        }

        @Test func `bad device tokens have a budget, and valid ones still work when it is used up`() async throws {
            let tenants = try await Tenants(options: ["--team-bad-tokens", "3"])
            let (mail, chat) = (
                try await tenants.add(Self.ours, "org.example.Mail"),
                try await tenants.add(Self.ours, "org.example.Chat")
            )
            let unknown = mail.request.at("/3/device/\(String(repeating: "deadbeef", count: 8))")
            let statuses = try await mail.client.send(unknown, count: 2).map(\.status)
            #expect(statuses == [400, 400])
            let foreign = mail.request.at(chat.request.path)
            #expect(try await mail.client.send(foreign).data == [#"{"reason":"DeviceTokenNotForTopic"}"#])
            for bad in [unknown, foreign] {
                let refused = try await mail.client.send(bad)
                #expect([refused].refused.count == 1)
                #expect((1...1200).contains(refused.field("retry-after").flatMap(Int.init) ?? 0), "\(refused)")
            }
            #expect(try await mail.client.send(mail.request).status == 200)
            let other = try await tenants.add(Self.theirs, "org.other.App")
            #expect(try await other.client.send(other.request.at(unknown.path)).status == 400, "its own budget")
            #expect(try await other.client.send(unknown.with("authorization", nil)).field("ratelimit-limit") == nil)
        }

        @Test func `broadcasts count for the daily quota, and channel management for the rate`() async throws {
            let tenants = try await tenantsOfOneDay()
            let mail = try await tenants.add(Self.ours, "org.example.Mail")
            let channel = try await tenants.server.posthorn("channel", "create", "org.example.Mail", "--json")
                .decoded(Channel.self).id
            try await tenants.server.posthorn("quota", "set", "--team", Self.ours, "--daily", "2")
            var broadcast = mail.request.at("/4/broadcasts/apps/org.example.Mail")
                .with("apns-push-type", "liveactivity").with("apns-expiration", "0").with("apns-channel-id", channel)
            broadcast.body = #"{"aps":{}}"#
            let answers = try await mail.client.send(broadcast, count: 3)
            #expect(answers.map(\.status) == [200, 200, 429])

            try await tenants.server.posthorn("quota", "set", "--team", Self.ours, "--daily", "0", "--rate", "1")
            let list = mail.request.at("/1/apps/org.example.Mail/all-channels").by("GET").sending(nil)
            let create = mail.request.at("/1/apps/org.example.Mail/channels")
                .sending(#"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
            for request in [list, create, create.by("GET").sending(nil).with("apns-channel-id", channel)] {
                let answers = try await mail.client.send(request, count: 30)
                #expect(!answers.refused.isEmpty, "\(request.method) \(request.path)")
            }
        }

        @Test func `a notification that the store refuses is refunded`() async throws {
            try await UTCDay.waitForRoom()
            let server = try await EphemeralServer(options: ["--topic-daily", "1"])
            let client = try await HTTP2Client(server.target)
            let good = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
            for _ in 0..<3 {
                #expect(try await client.send(good.at("/3/device/\(server.topic.goneToken)")).status == 410)
            }
            let statuses = [try await client.send(good).status, try await client.send(good).status]
            #expect(statuses == [200, 429])
        }

        @Test func `the owner can read limits and their use, set them and remove them`() async throws {
            let tenants = try await Tenants(options: ["--topic-rate", "50/100"])
            let mail = try await tenants.add(Self.ours, "org.example.Mail")
            let server = tenants.server
            #expect(try await mail.client.send(mail.request, count: 4).acceptedCount == 4)
            let set = try await server.posthorn("quota", "set", "--topic", "org.example.Mail", "--daily", "7")
            #expect(set.output.contains(/topic\s+org\.example\.Mail\s+50 per second\s+100\s/), "\(set)")
            try await server.posthorn("quota", "set", "--key", mail.target.keyID, "--daily", "9")
            try await server.posthorn("quota", "set", "--team", Self.ours, "--bad-tokens", "10")
            #expect(try await mail.client.send(mail.request, count: 2).acceptedCount == 2)
            let list = try await server.posthorn("quota", "list").output
            #expect(list.contains(/team\s+TEAM000001\s+bad tokens per hour\s+10\s+0\s+10\s+0 s\s+0\n/), "\(list)")
            #expect(list.contains(/key\s+\w{10}\s+per day\s+9\s+2\s+7\s/), "\(list)")
            #expect(list.contains("Each device token: 100 requests per second, burst 1000."))
            let one = try await server.posthorn("quota", "list", "--key", mail.target.keyID, "--json")
                .decoded(Quotas.self).quotas
            #expect(one.map(\.limit) == ["daily"] && one.map(\.remaining) == [7])
            try await server.posthorn("quota", "clear", "--key", mail.target.keyID)
            try await restart(server, by: SIGTERM)
            let left = try await server.posthorn("quota", "list", "--json").decoded(Quotas.self).quotas
            #expect(
                left.map { "\($0.name) \($0.limit)" }.sorted() == [
                    "TEAM000001 bad_tokens", "org.example.Mail daily", "org.example.Mail rate",
                ])
        }

        @Test func `a misspelled name or number sets no limit`() async throws {
            let tenants = try await Tenants()
            _ = try await tenants.add(Self.ours, "org.example.Mail")
            let cases = [
                ("topic/org.example.Mial", #"{"rate":1}"#, 404, "UnknownTopic"),
                ("key/KEY", #"{"rate":1}"#, 404, "UnknownKey"),
                ("team/TEAM0000ZZ", #"{"rate":1}"#, 404, "UnknownTeam"), ("team/t", #"{"rate":1}"#, 400, "BadTeamID"),
                ("app/org.example.Mail", #"{"rate":1}"#, 404, "NotFound"),
                ("topic/org.example.Mail", "{}", 400, "NoChange"),
                ("topic/org.example.Mail", #"{"rate":-1}"#, 400, "BadRequest"),
                ("topic/org.example.Mail", #"{"rate":"5"}"#, 400, "BadRequest"),
                ("topic/org.example.Mail", #"{"day":5}"#, 400, "BadRequest"),
                ("topic/org.example.Mail", #"{"bad_tokens":5}"#, 400, "BadRequest"),
                ("topic/org.example.Mail", #"{"burst":5}"#, 400, "BadRequest"),
                ("topic/org.example.Mail", #"{"rate":0,"burst":5}"#, 400, "BadRequest"),
                ("topic/org.example.Mail", #"{"rate":5,"burst":0}"#, 400, "BadRequest"),
            ]
            for (path, body, status, error) in cases {
                let answer = try await tenants.server.admin.exchange("PATCH", "/v1/quotas/\(path)", body)
                #expect(answer.status == status && answer["error"] == error, "\(path) \(body): \(answer)")
            }
            let quotas: Quotas = try await tenants.server.admin.request("GET", "/v1/quotas")
            #expect(quotas.quotas.isEmpty)
            for path in ["topic/org.example.Mial", "key/KEY"] {
                #expect(try await tenants.server.admin.exchange("GET", "/v1/quotas/\(path)").status == 404)
            }
        }

        @Test func `a misspelled name clears nothing and is reported, and clearing an unset limit succeeds`()
            async throws
        {
            let tenants = try await Tenants()
            let mail = try await tenants.add(Self.ours, "org.example.Mail")
            let cases = [
                ("topic/org.example.Mial", 404, "UnknownTopic"), ("key/KEY", 404, "UnknownKey"),
                ("key/" + String(repeating: "0a", count: 32), 404, "UnknownKey"),
                ("team/TEAM0000ZZ", 404, "UnknownTeam"), ("topic/org.example.Mail", 204, nil),
                ("key/\(mail.target.keyID)", 204, nil), ("team/\(Self.ours)", 204, nil),
            ]
            for (path, status, error) in cases {
                let answer = try await tenants.server.admin.exchange("DELETE", "/v1/quotas/\(path)")
                #expect(answer.status == status && answer["error"] == error, "\(path): \(answer)")
            }
        }

        private struct Channel: Decodable {
            let id: String

            enum CodingKeys: String, CodingKey {
                case id = "channel_id"
            }
        }

        private struct Quotas: Decodable {
            let quotas: [Quota]
        }

        private struct Quota: Decodable {
            let name: String
            let limit: String
            let remaining: Int
        }
    }
}
