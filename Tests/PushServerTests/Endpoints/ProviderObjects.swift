// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushStore
import PushTLS

@testable import PushServer

/// The apps, keys and device tokens of the endpoint tests.
struct ProviderObjects {
    /// A signing key that a provider owns.
    struct Key {
        let id: String
        let teamID: String
        let key: PrivateKey
    }

    static let team = "TEAM000001"
    static let topic = "org.example.Mail"
    static let otherTopic = "org.example.Chat"
    static let silentTopic = "org.example.Silent"
    static let otherTeamTopic = "org.other.App"

    let directory: Directory
    /// The key of the team, valid for all its topics.
    let main: Key
    /// The device token of the topic, in production.
    let token: String
    /// The device token of the other topic.
    let otherToken: String
    /// The device token of the topic in the other environment.
    let developmentToken: String
    private let keys: [String: Key]

    init(_ installation: Installation) throws {
        var (records, keys) = ([String: SigningKey](), [String: Key]())
        func add(_ id: String, team: String = Self.team, _ change: (inout SigningKey) -> Void = { _ in }) throws -> Key
        {
            let key = try PrivateKey()
            var record = SigningKey(
                id: id, teamID: team, topics: nil, publicKey: key.publicKeyDER, createdAt: .now)
            change(&record)
            records[id] = record
            keys[id] = Key(id: id, teamID: team, key: key)
            return Key(id: id, teamID: team, key: key)
        }
        main = try add("KEY0000001")
        _ = try add("TOPICKEY01") { $0.topics = [TopicName(Self.topic)] }
        _ = try add("DEVELOPKEY") { $0.environment = .development }
        _ = try add("REVOKEDKEY") { $0.revokedAt = .now }
        _ = try add("OTHERTEAM1", team: "TEAM000002")
        self.keys = keys
        let topics = [
            Topic(id: TopicID(rawValue: 1), name: TopicName(Self.topic), teamID: Self.team, allowsBroadcasts: true),
            Topic(id: TopicID(rawValue: 2), name: TopicName(Self.otherTopic), teamID: Self.team),
            Topic(id: TopicID(rawValue: 3), name: TopicName(Self.silentTopic), teamID: Self.team),
            Topic(
                id: TopicID(rawValue: 4), name: TopicName(Self.otherTeamTopic), teamID: "TEAM000002",
                allowsBroadcasts: true),
        ]
        directory = Directory(
            version: 1, topics: Dictionary(uniqueKeysWithValues: topics.map { ($0.id, $0) }), keys: records)
        let ciphers = try TokenCiphers(installation.tokenKeys)
        let production = ciphers.cipher(for: .production)
        token = Self.token(1, production)
        otherToken = Self.token(2, production)
        developmentToken = Self.token(1, ciphers.cipher(for: .development))
    }

    /// Returns one of the keys.
    subscript(_ id: String) -> Key {
        guard let key = keys[id] else { preconditionFailure("the tests have no key \(id)") }
        return key
    }

    private static func token(_ topic: UInt32, _ cipher: TokenCipher) -> String {
        let contents = DeviceTokenContents(
            device: DeviceID(rawValue: 1), topic: TopicID(rawValue: topic), generation: 1)
        let sealed = cipher.seal(contents.bytes)
        return sealed.indices.map { String(format: "%02x", sealed[$0]) }.joined()
    }
}

extension ProviderObjects.Key {
    /// Signs a provider token.
    ///
    /// - Parameters:
    ///   - age: The age of the token in seconds; negative for the future.
    ///   - changes: The members to replace in the header and the claims, as JSON.
    ///   - omitted: The member to leave out; nil for none.
    ///   - signer: The key that signs instead of this one.
    /// - Returns: The value of `authorization`.
    /// - Throws: `TLSError` when OpenSSL cannot sign.
    func authorization(
        age: Int = 0, _ changes: [String: String] = [:], without omitted: String? = nil, signer: PrivateKey? = nil
    ) throws -> String {
        let issued = Int(Date().timeIntervalSince1970) - age
        let header = [("alg", "\"ES256\""), ("kid", "\"\(id)\"")]
        let claims = [("iss", "\"\(teamID)\""), ("iat", "\(issued)")]
        let parts = [header, claims].map { members in
            let texts = members.filter { $0.0 != omitted }.map { "\"\($0)\":\(changes[$0] ?? $1)" }
            return Self.encode("{\(texts.joined(separator: ","))}".utf8)
        }
        let signed = parts.joined(separator: ".")
        let signature = try (signer ?? key).sign(Array(signed.utf8).span)
        return "bearer \(signed).\(Self.encode(signature))"
    }

    private static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Base64.encodeURL(Array(bytes).span), as: UTF8.self)
    }
}
