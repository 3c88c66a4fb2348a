// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Checks that a server with two teams and two devices answers each foreign ID like an unknown one.
    struct TenantMatrixTests {
        private static let (first, second, nobody) = ("org.first.App", "org.second.App", "org.nobody.App")
        private let tenants: Tenants
        private let (ours, theirs): (Tenants.Tenant, Tenants.Tenant)
        /// A channel of the first team's app, one of the second's, and one that was removed.
        private let (channel, theirChannel, removedChannel): (String, String, String)

        private struct Channel: Decodable {
            let id: String

            private enum CodingKeys: String, CodingKey {
                case id = "channel_id"
            }
        }

        init() async throws {
            tenants = try await Tenants()
            let server = tenants.server
            ours = try await tenants.add("TEAM000001", Self.first)
            theirs = try await tenants.add("TEAM000002", Self.second)
            func create(_ topic: String) async throws -> String {
                try await server.posthorn("channel", "create", topic, "--policy", "last", "--json")
                    .decoded(Channel.self).id
            }
            channel = try await create(Self.first)
            theirChannel = try await create(Self.second)
            removedChannel = try await create(Self.first)
            try await server.posthorn("channel", "remove", Self.first, removedChannel)
        }

        // MARK: Providers

        /// Returns the status, the body and the detail text, without the IDs that the request contained.
        private func words(_ answer: HTTP2Response, without ids: [String]) -> [String] {
            let detail = answer.field("posthorn-detail") ?? ""
            return ["\(answer.status ?? 0)", answer.data.joined()]
                + [ids.reduce(detail) { $0.replacingOccurrences(of: $1, with: "ID") }]
        }

        private func broadcast(_ request: ProviderRequest, _ topic: String, _ channel: String) -> ProviderRequest {
            request.at("/4/broadcasts/apps/\(topic)").with("apns-topic", nil).with("apns-push-type", "liveactivity")
                .with("apns-expiration", "0").with("apns-channel-id", channel)
        }

        private func manage(_ method: String, _ topic: String, _ channel: String?) -> ProviderRequest {
            let request = theirs.request.by(method).at("/1/apps/\(topic)/channels").with("apns-topic", nil)
                .with("apns-push-type", nil).with("apns-channel-id", channel)
            let creation = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
            return request.sending(method == "POST" ? creation : nil)
        }

        @Test func `an app of another team is answered like a missing one`() async throws {
            func requests(_ topic: String) -> [ProviderRequest] {
                let base = theirs.request.with("apns-topic", topic)
                return [
                    base.at(ours.request.path), base, base.at("/3/device/\(String(repeating: "ab", count: 32))"),
                    base.with("apns-push-type", "background").with("apns-priority", "5"),
                    broadcast(theirs.request, topic, channel), broadcast(theirs.request, topic, removedChannel),
                    manage("GET", topic, channel), manage("DELETE", topic, channel), manage("POST", topic, nil),
                    manage("GET", topic, nil).at("/1/apps/\(topic)/all-channels"),
                ]
            }
            for (foreign, unknown) in zip(requests(Self.first), requests(Self.nobody)) {
                let (one, other) = (try await theirs.client.send(foreign), try await theirs.client.send(unknown))
                #expect((400..<500).contains(one.status ?? 0), "\(foreign.method) \(foreign.path): \(one)")
                #expect(words(one, without: [Self.first]) == words(other, without: [Self.nobody]), "\(foreign.path)")
            }
            try await nothingHappened()
        }

        @Test func `a channel of another team is answered like a missing one`() async throws {
            func requests(_ id: String) -> [ProviderRequest] {
                [
                    manage("GET", Self.second, id), manage("DELETE", Self.second, id),
                    broadcast(theirs.request, Self.second, id),
                ]
            }
            for (foreign, unknown) in zip(requests(channel), requests(removedChannel)) {
                let (one, other) = (try await theirs.client.send(foreign), try await theirs.client.send(unknown))
                #expect(one.data == [#"{"reason":"ChannelNotRegistered"}"#], "\(foreign.method) \(one)")
                #expect(words(one, without: [channel]) == words(other, without: [removedChannel]))
            }
            let list = try await theirs.client.send(
                manage("GET", Self.second, nil).at("/1/apps/\(Self.second)/all-channels"))
            #expect(list.data.joined() == #"{"channels":["\#(theirChannel)"]}"#)
            try await nothingHappened()
        }

        /// Apple's API has a specific reason for a valid device token of another app.
        ///
        /// Its text contains no names.
        @Test func `a device token of another team's app gets only the answer that it does not match`() async throws {
            let answer = try await theirs.client.send(theirs.request.at(ours.request.path))
            #expect(answer.data == [#"{"reason":"DeviceTokenNotForTopic"}"#])
            let said = answer.headers.flatMap { $0 }.joined(separator: " ")
            #expect(!said.contains("first") && !said.contains("TEAM000001"), "\(said)")
            try await nothingHappened()
        }

        @Test func `a certificate belongs to its team, even if another team takes over the topic`() async throws {
            let server = tenants.server
            let certificate = server.files.path(of: "old.pem")
            try await server.posthorn("certificate", "issue", Self.second, "--output", certificate)
            try await server.posthorn("app", "remove", Self.second)
            let heirs = try await tenants.add("TEAM000003", Self.second)
            let token = String(heirs.request.path.dropFirst("/3/device/".count))
            let answer = try await CurlAnswer(
                host: "127.0.0.1", port: server.port, caFile: server.authorityFile, token: token, fields: [:],
                options: ["--cert", certificate])
            #expect(answer.status == 400 && answer.reason == "TopicDisallowed", "\(answer)")
            #expect(try await heirs.client.send(heirs.request).status == 200)
        }

        @Test func `a stranger gets the same answer for an existing key and an unknown one`() async throws {
            let known = try await ours.client.providerToken(foreignKey: true)
            let unknown = try await ours.client.providerToken(keyID: "AAAAAAAAAA", foreignKey: true)
            let (one, other) = (
                try await ours.client.send(ours.request.with("authorization", "bearer \(known)")),
                try await ours.client.send(ours.request.with("authorization", "bearer \(unknown)"))
            )
            #expect(one.data == [#"{"reason":"InvalidProviderToken"}"#])
            #expect(words(one, without: [ours.target.keyID]) == words(other, without: ["AAAAAAAAAA"]))
        }

        /// Checks that the second team's requests changed nothing of the first team's.
        private func nothingHappened() async throws {
            let list = ours.request.by("GET").at("/1/apps/\(Self.first)/all-channels").with("apns-topic", nil)
                .with("apns-push-type", nil).sending(nil)
            #expect(try await ours.client.send(list).data.joined() == #"{"channels":["\#(channel)"]}"#)
            #expect(try await tenants.server.admin.status().counts.pending == 0)
            #expect(try await ours.client.send(ours.request).status == 200)
        }

        // MARK: Devices

        @Test func `a device reads and changes nothing of another device`() async throws {
            let server = tenants.server
            let (victim, attacker) = (
                try await PlainDevice(server, ours.target), try await PlainDevice(server, theirs.target)
            )
            let client = try await HTTP2Client(ours.target)
            func ask(_ method: String, _ path: String, _ secret: String, _ body: String? = nil) async throws
                -> HTTP2Response
            {
                let fields = [
                    [":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path],
                    ["authorization", "Bearer \(secret)"],
                ]
                return try await client.request(fields, body: body)
            }
            let allowed = CharacterSet.alphanumerics
            let id = channel.addingPercentEncoding(withAllowedCharacters: allowed) ?? channel
            let gone = removedChannel.addingPercentEncoding(withAllowedCharacters: allowed) ?? removedChannel
            let subscription = "/v1/apps/\(Self.first)/channels/\(id)"
            #expect(try await ask("PUT", subscription, victim.secret).status == 204)
            let sent = try await ours.client.send(ours.request.at("/3/device/\(victim.token)"))
            #expect(sent.status == 200)

            // The first app is not registered on the attacker's device, so it is answered like a missing app.
            for (method, path) in [("GET", "channels"), ("PUT", "channels/\(id)"), ("DELETE", "channels/\(id)")] {
                let one = try await ask(method, "/v1/apps/\(Self.first)/\(path)", attacker.secret)
                let other = try await ask(method, "/v1/apps/\(Self.nobody)/\(path)", attacker.secret)
                #expect(one.status == other.status && one.data == other.data, "\(method) \(path): \(one) \(other)")
            }
            // A channel of another app is answered like a missing one.
            let own = "/v1/apps/\(Self.second)/channels/"
            for method in ["PUT", "DELETE"] {
                let (one, other) = (
                    try await ask(method, own + id, attacker.secret), try await ask(method, own + gone, attacker.secret)
                )
                #expect(one.status == other.status && one.data == other.data, "\(method): \(one) \(other)")
            }
            // Acknowledgements with any number leave the victim's notification in its place.
            let acks = (1...1000).map { #"{"id":\#($0),"outcome":"viewed"}"# }.joined(separator: ",")
            #expect(try await ask("POST", "/v1/acks", attacker.secret, #"{"acks":[\#(acks)]}"#).status == 204)
            #expect(
                try await ask("PUT", "/v1/filter", attacker.secret, #"{"refused_topics":["org.first.App"]}"#).status
                    == 204)
            #expect(try await ask("DELETE", "/v1/apps/\(Self.first)", attacker.secret).status == 204)
            #expect(try await server.admin.status().counts.pending == 1)
            let list = try await ask("GET", "/v1/apps/\(Self.first)/channels", victim.secret)
            #expect(list.data.joined().contains(#"{"channels":[""#), "\(list)")
            #expect(try await ours.client.send(ours.request.at("/3/device/\(victim.token)")).status == 200)
        }
    }
}
