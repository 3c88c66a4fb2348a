// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A signing key of a provider; only the public half is kept.
package struct SigningKey: Sendable, Equatable {
    /// Ten characters A-Z and 0-9: `kid`.
    package var id: String
    /// Ten characters A-Z and 0-9: `iss`.
    package var teamID: String
    /// Topics it may send to; nil for every topic of the team.
    package var topics: [String]?
    /// The public key, SubjectPublicKeyInfo in DER.
    package var publicKey: [UInt8]
    /// When it was made, UNIX seconds.
    package var createdUnixSeconds: Int64
    /// When it was revoked, UNIX seconds; nil while it is good.
    package var revokedUnixSeconds: Int64?

    /// Joins the parts.
    package init(
        id: String, teamID: String, topics: [String]?, publicKey: [UInt8], createdUnixSeconds: Int64,
        revokedUnixSeconds: Int64? = nil
    ) {
        self.id = id
        self.teamID = teamID
        self.topics = topics
        self.publicKey = publicKey
        self.createdUnixSeconds = createdUnixSeconds
        self.revokedUnixSeconds = revokedUnixSeconds
    }
}

/// An app that notifications are for.
package struct Topic: Sendable, Equatable {
    /// The number in device tokens.
    package var id: TopicID
    /// The topic, for example `com.example.MyApp`.
    package var name: String
    /// The team that owns it.
    package var teamID: String

    /// Joins the parts.
    package init(id: TopicID, name: String, teamID: String) {
        self.id = id
        self.name = name
        self.teamID = teamID
    }
}

/// What loops must know to check a notification without asking the store; a finished value, replaced as a whole.
package struct Directory: Sendable {
    /// Grows with each change, so that what was checked against an older one is checked again.
    package var version: UInt64
    /// Topics by number.
    package var topics: [TopicID: Topic]
    /// Keys by id, revoked ones too.
    package var keys: [String: SigningKey]

    /// Joins the parts.
    package init(version: UInt64, topics: [TopicID: Topic], keys: [String: SigningKey]) {
        self.version = version
        self.topics = topics
        self.keys = keys
    }
}
