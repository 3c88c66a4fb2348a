// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A device without an agent, which enrols, registers one app, and reports the outcomes that a test selects.
struct PlainDevice {
    let id: String
    /// The app's device token.
    let token: String
    /// The secret that authenticates the device at the server.
    let secret: String

    init(_ server: InstalledServer, _ target: ProviderTarget) async throws {
        let client = try await HTTP2Client(target)
        let body = #"{"code":"\#(try await server.enrolmentCode())","name":"test","platform":"linux"}"#
        let device: Enrolled = try await Self.ask(client, "POST", "/v1/devices", secret: nil, body)
        (id, secret) = (device.id, device.secret)
        let app: Registered = try await Self.ask(client, "PUT", "/v1/apps/\(target.topic)", secret: secret, nil)
        token = app.token
        SecretWords.add("a device secret", secret)
        SecretWords.add("a device token", token)
    }

    /// Reports outcomes: the numbers of notifications with their outcomes.
    func report(_ outcomes: [(id: Int64, outcome: String)], to target: ProviderTarget) async throws {
        let acks = outcomes.map { #"{"id":\#($0.id),"outcome":"\#($0.outcome)"}"# }.joined(separator: ",")
        let client = try await HTTP2Client(target)
        let answer = try await client.request(
            Self.fields("POST", "/v1/acks", secret), body: #"{"acks":[\#(acks)]}"#)
        guard answer.status == 204 else { throw Refused(answer: "\(answer)") }
    }

    private static func ask<Answer: Decodable>(
        _ client: HTTP2Client, _ method: String, _ path: String, secret: String?, _ body: String?
    ) async throws -> Answer {
        let answer = try await client.request(fields(method, path, secret), body: body)
        guard answer.status == 200 || answer.status == 201 else { throw Refused(answer: "\(answer)") }
        return try JSONDecoder().decode(Answer.self, from: Data(answer.data.joined().utf8))
    }

    private static func fields(_ method: String, _ path: String, _ secret: String?) -> [[String]] {
        [[":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path]]
            + (secret.map { [["authorization", "Bearer \($0)"]] } ?? [])
    }

    /// Reports that the server refused a request.
    struct Refused: Error {
        let answer: String
    }

    private struct Enrolled: Decodable {
        let id: String
        let secret: String

        private enum CodingKeys: String, CodingKey {
            case id = "device_id"
            case secret = "device_secret"
        }
    }

    private struct Registered: Decodable {
        let token: String

        private enum CodingKeys: String, CodingKey {
            case token = "device_token"
        }
    }
}
