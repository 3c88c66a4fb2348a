// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A back-end in Python that receives the outcomes of its notifications, over HTTPS with the certificate of a
/// posthornd.
struct WebhookServer {
    static let secret = "a secret of this test alone"

    let port: Int
    private let script: ScriptedProcess

    init(certificatesOf server: InstalledServer) async throws {
        script = ScriptedProcess(script: "webhook_server.py")
        let command = [
            "op": "start", "certificate": server.files.path(of: "data/server.pem"),
            "key": server.files.path(of: "data/server.key"), "secret": Self.secret,
        ]
        port = try await script.ask(command, as: Started.self).port
    }

    /// The URL that a test sets with `posthorn app set --webhook`.
    var url: String { "https://127.0.0.1:\(port)/events" }

    /// Sets the answers to the next requests; later requests get 204.
    func behave(_ answers: String...) async throws {
        let _: Done = try await script.ask(Behaviour(answers: answers))
    }

    /// Returns everything received so far.
    func received() async throws -> Received { try await script.ask(["op": "received"]) }

    private struct Started: Decodable {
        let port: Int
    }

    private struct Behaviour: Encodable {
        var op = "behave"
        let answers: [String]
    }

    /// The events and requests that the server received.
    struct Received: Decodable {
        let events: [Event]
        /// The number of all requests.
        let askedCount: Int
        let refusedCount: Int
        /// The problems of invalid requests.
        let bad: [String]

        /// Returns the events of one notification, in the order of their first arrival.
        func words(_ apnsID: String) -> [String] {
            var seen: Set<Int64> = []
            return events.filter { $0.apnsID == apnsID && seen.insert($0.id).inserted }.map(\.event)
        }

        private enum CodingKeys: String, CodingKey {
            case events, bad
            case askedCount = "asked_count"
            case refusedCount = "refused_count"
        }
    }

    /// An event as a back-end reads it.
    struct Event: Decodable {
        let id: Int64
        let event: String
        let reason: String?
        let at: Int64
        let topic: String
        let deviceToken: String?
        let apnsID: String?

        private enum CodingKeys: String, CodingKey {
            case id, event, reason, at, topic
            case deviceToken = "device_token"
            case apnsID = "apns-id"
        }
    }
}
