// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A back-end in Python that hears what became of its notifications, over HTTPS with the certificate of a posthornd.
struct WebhookServer {
    static let secret = "a secret of this test alone"

    let port: Int
    private let script: ScriptedProcess

    init(certificatesOf server: InstalledServer) async throws {
        script = try ScriptedProcess(script: "webhook_server.py")
        let command = [
            "op": "start", "certificate": server.files.path(of: "data/server.pem"),
            "key": server.files.path(of: "data/server.key"), "secret": Self.secret,
        ]
        port = try await script.ask(command, as: Started.self).port
    }

    /// What a test sets with `posthorn app set --webhook`.
    var url: String { "https://127.0.0.1:\(port)/events" }

    /// How it answers the next requests; those behind them with 204.
    func behave(_ answers: String...) async throws {
        let _: Done = try await script.ask(Behaviour(answers: answers))
    }

    /// What it took so far.
    func received() async throws -> Received { try await script.ask(["op": "received"]) }

    private struct Started: Decodable {
        let port: Int
    }

    private struct Behaviour: Encodable {
        var op = "behave"
        let answers: [String]
    }

    /// What came.
    struct Received: Decodable {
        let events: [Event]
        let refusedCount: Int
        /// What was wrong with requests.
        let bad: [String]

        /// The events of one notification, in the order in which they came first.
        func words(_ apnsID: String) -> [String] {
            var seen: Set<Int64> = []
            return events.filter { $0.apnsID == apnsID && seen.insert($0.id).inserted }.map(\.event)
        }

        private enum CodingKeys: String, CodingKey {
            case events, bad
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
