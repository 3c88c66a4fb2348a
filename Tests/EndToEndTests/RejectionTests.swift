// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Checks the status, reason, header fields and frames of the provider API, as real clients rely on them.
    struct RejectionTests {
        /// A change to a valid request, and the required answer.
        struct Case {
            let name: String
            let status: Int
            let reason: String
            let request: ProviderRequest
        }

        @Test func `each defect of a request has its own status, reason and one DATA frame`() async throws {
            let server = try await EphemeralServer(topics: ["org.example.Mail", "org.example.Chat"])
            let client = try await HTTP2Client(server.target)
            let good = try await request(to: server, by: client)
            let other = server.line.topics[1]
            for wrong in headerCases(good) + addressCases(good, other: other) {
                let response = try await client.send(wrong.request)
                check(response, wrong)
            }
            #expect(try await server.admin.received().isEmpty, "nothing that was refused is delivered")
            #expect(try await client.send(good).status == 200, "the connection still serves")
        }

        @Test func `values at the valid side of each limit are accepted`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let good = try await request(to: server, by: client)
            let edges = [
                good, good.with("apns-id", nil), good.with("apns-push-type", nil), good.sending("{}"),
                good.sending(payload(byteCount: 4096)),
                good.with("apns-collapse-id", String(repeating: "c", count: 64)),
                good.with("apns-priority", "10"), good.with("apns-priority", "5"), good.with("apns-priority", "1"),
                good.with("apns-expiration", "0"), good.with("apns-expiration", "4102444800"),
                good.with("apns-push-type", "ALERT"), good.with("apns-push-type", "background"),
                good.with("content-type", "application/json"),
                good.with("authorization", "Bearer \(try await client.providerToken(ageSeconds: 3500))"),
            ]
            for edge in edges {
                let response = try await client.send(edge)
                #expect(response.status == 200, "\(edge.fields): \(response)")
                #expect(response.endedBy == "headers" && response.data.isEmpty, "200 has no body: \(response)")
                #expect(response.field("apns-id").map(isUUID) == true)
                if let id = edge.field("apns-id") { #expect(response.field("apns-id") == id) }
            }
            try await eventually("the device has all of them") {
                try await server.admin.received().count == edges.count
            }
        }

        @Test func `an apns-id is returned byte for byte, in upper and in lower case`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let good = try await request(to: server, by: client)
            for id in ["9d5a1e0c-4f7b-4c39-8b1a-0e6c2f7d3a55", "9D5A1E0C-4F7B-4C39-8B1A-0E6C2F7D3A56"] {
                #expect(try await client.send(good.with("apns-id", id)).field("apns-id") == id)
                let refused = try await client.send(good.with("apns-id", id).with("apns-priority", "7"))
                #expect(refused.field("apns-id") == id)
            }
        }

        @Test func `a client without ALPN uses HTTP2 from its first byte`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target, offersALPN: false)
            #expect(try await client.send(try await request(to: server, by: client)).status == 200)
        }

        @Test func `a token that is no longer registered answers 410 with a time in milliseconds`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let before = Int64(Date().timeIntervalSince1970 * 1000) - 60_000
            let gone = try await request(to: server, by: client).at("/3/device/\(server.topic.goneToken)")
            let response = try await client.send(gone)
            #expect(response.status == 410 && response.data.count == 1 && response.endedBy == "data")
            let body = try JSONDecoder().decode(Gone.self, from: Data(response.data.joined().utf8))
            #expect(body.reason == "Unregistered")
            #expect((before...before + 120_000).contains(body.timestamp))
        }

        @Test(arguments: [("TooManyRequests", 429), ("InternalServerError", 500), ("ServiceUnavailable", 503)])
        func `a provider's test can request a failure for the next answers`(reason: String, status: Int) async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let good = try await request(to: server, by: client)
            let order = #"{"reason":"\#(reason)","count":2}"#
            try await server.admin.perform("POST", "/v1/ephemeral/fail", body: order)
            for _ in 0..<2 {
                check(
                    try await client.send(good),
                    Case(name: reason, status: status, reason: reason, request: good))
            }
            #expect(try await client.send(good).status == 200)
        }

        private struct Gone: Decodable {
            let reason: String
            let timestamp: Int64
        }

        private func request(to server: EphemeralServer, by client: HTTP2Client) async throws -> ProviderRequest {
            ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
        }

        private func headerCases(_ good: ProviderRequest) -> [Case] {
            let long = String(repeating: "c", count: 65)
            return [
                ("collapse ID of 65 bytes", 400, "BadCollapseId", good.with("apns-collapse-id", long)),
                ("expiration in words", 400, "BadExpirationDate", good.with("apns-expiration", "soon")),
                ("expiration with a fraction", 400, "BadExpirationDate", good.with("apns-expiration", "1.5")),
                ("id without dashes", 400, "BadMessageId", good.with("apns-id", String(repeating: "a", count: 32))),
                ("priority 7", 400, "BadPriority", good.with("apns-priority", "7")),
                ("priority 010", 400, "BadPriority", good.with("apns-priority", "010")),
                ("unknown push type", 400, "InvalidPushType", good.with("apns-push-type", "shout")),
                ("topic twice", 400, "DuplicateHeaders", good.adding("apns-topic", "org.example.Mail")),
                (
                    "priority twice", 400, "DuplicateHeaders",
                    good.adding("apns-priority", "5").adding("apns-priority", "5")
                ),
                ("no topic", 400, "MissingTopic", good.with("apns-topic", nil)),
                ("topic of nobody", 400, "TopicDisallowed", good.with("apns-topic", "org.example.Nobody")),
                ("voip without its suffix", 400, "BadTopic", good.with("apns-push-type", "voip")),
            ].map(Case.init)
        }

        private func addressCases(_ good: ProviderRequest, other: EphemeralServer.Topic) -> [Case] {
            let unknown = String(repeating: "deadbeef", count: 8)
            return [
                ("unknown device token", 400, "BadDeviceToken", good.at("/3/device/\(unknown)")),
                ("device token that is no number", 400, "BadDeviceToken", good.at("/3/device/hello")),
                ("one hex digit short", 400, "BadDeviceToken", good.at(String(good.path.dropLast()))),
                ("no device token", 400, "MissingDeviceToken", good.at("/3/device/")),
                ("token of another topic", 400, "DeviceTokenNotForTopic", good.at("/3/device/\(other.token)")),
                ("other path", 404, "BadPath", good.at("/4/device/\(unknown)")),
                ("GET", 405, "MethodNotAllowed", good.by("GET").sending(nil)),
                ("PUT", 405, "MethodNotAllowed", good.by("PUT")),
                ("empty payload", 400, "PayloadEmpty", good.sending("")),
                ("no payload", 400, "PayloadEmpty", good.sending(nil)),
                ("4097 bytes", 413, "PayloadTooLarge", good.sending(payload(byteCount: 4097))),
                ("60000 bytes", 413, "PayloadTooLarge", good.sending(payload(byteCount: 60_000))),
            ].map(Case.init)
        }
    }
}

/// Checks the form of a refusal: status, one JSON object in one DATA frame that ends the stream, an apns-id.
func check(_ response: HTTP2Response, _ wanted: SecurityEndToEnd.RejectionTests.Case) {
    let name = "\(wanted.name): \(response)"
    #expect(response.status == wanted.status, "\(name)")
    #expect(response.data == [#"{"reason":"\#(wanted.reason)"}"#], "\(name)")
    #expect(response.endedBy == "data", "\(name)")
    #expect(response.field("content-type") == "application/json", "\(name)")
    guard let id = response.field("apns-id") else {
        Issue.record("no apns-id: \(name)")
        return
    }
    #expect(isUUID(id), "\(name)")
    if let given = wanted.request.field("apns-id"), isUUID(given) { #expect(id == given, "\(name)") }
}

/// Returns whether a text is 8-4-4-4-12 hexadecimal digits.
func isUUID(_ text: String) -> Bool {
    text.wholeMatch(of: /[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) != nil
}
