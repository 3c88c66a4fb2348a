// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore
internal import PushTLS

/// `/v1/keys`: the keys with which providers sign.
struct AdminKeys: AdminResource {
    let services: LoopServices

    private static let newKey = AdminBody(members: [
        AdminBody.Member(name: "team_id", kind: .text), AdminBody.Member(name: "topics", kind: .texts),
        AdminBody.environment,
    ])

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        switch (exchange.method, rest.count) {
        case (.get, 0):
            perform(.control(.keys), exchange, connection) { answer, exchange in
                if case .keys(let keys) = answer { ControlAnswer.send(exchange, CredentialAPI.Keys(keys: keys)) }
            }
        case (.post, 0): addKey(exchange, connection)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.delete, 1): perform(.control(.revokeKey(id: rest[0])), exchange, connection)
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func addKey(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.newKey.read(CredentialAPI.NewKey.self, of: exchange),
            let teamID = team(body.teamID, exchange), areValid(body.topics ?? [], of: teamID, exchange)
        else { return }
        let made: (key: SigningKey, pem: String)
        do throws(TLSError) {
            made = try SigningKey.make(teamID: teamID, topics: body.topics, environment: body.environment)
        } catch {
            return ControlAnswer.refuse(exchange, status: 500, "KeyNotMade", error.description)
        }
        perform(.control(.addKey(made.key)), exchange, connection) { _, exchange in
            ControlAnswer.send(
                exchange, status: 201,
                CredentialAPI.Key(
                    keyID: made.key.id, teamID: teamID, topics: body.topics, createdAt: made.key.createdAt,
                    privateKey: made.pem, environment: body.environment))
        }
    }

    /// Returns whether a key of the team can send to all topics, or answers the request if it cannot.
    private func areValid(_ topics: [TopicName], of teamID: String, _ exchange: HTTPExchange) -> Bool {
        for name in topics {
            guard let topic = services.directory.topic(named: Array(name.text.utf8).span)?.topic else {
                ControlAnswer.refuse(exchange, .unknownTopic)
                return false
            }
            guard topic.teamID == teamID else {
                ControlAnswer.refuse(
                    exchange, status: 400, "OtherTeam",
                    "App \(topic.name) belongs to team \(topic.teamID); a key of team \(teamID) cannot send to it.")
                return false
            }
        }
        return true
    }
}

extension SigningKey {
    /// Creates a key pair; the private half goes to the caller and is not stored.
    static func make(
        teamID: String, topics: [TopicName]?, environment: Environment? = nil
    ) throws(TLSError) -> (key: SigningKey, pem: String) {
        let privateKey = try PrivateKey()
        let key = SigningKey(
            id: Identifier.make(), teamID: teamID, topics: topics, publicKey: privateKey.publicKeyDER,
            createdAt: .now.roundedDownToSeconds, environment: environment)
        return (key, String(decoding: privateKey.pem, as: UTF8.self))
    }
}
