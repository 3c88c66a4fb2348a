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
    /// The environment that it is for; nil for both.
    package var environment: Environment?

    /// Joins the parts.
    package init(
        id: String, teamID: String, topics: [String]?, publicKey: [UInt8], createdUnixSeconds: Int64,
        revokedUnixSeconds: Int64? = nil, environment: Environment? = nil
    ) {
        self.id = id
        self.teamID = teamID
        self.topics = topics
        self.publicKey = publicKey
        self.createdUnixSeconds = createdUnixSeconds
        self.revokedUnixSeconds = revokedUnixSeconds
        self.environment = environment
    }
}

/// An app that notifications are for.
package struct Topic: Sendable, Equatable {
    /// The number in device tokens.
    package var id: TopicID
    /// The topic, for example `com.example.MyApp`.
    package var name: String
    /// What people call the app.
    package var displayName: String
    /// The team that owns it.
    package var teamID: String
    /// How its payloads are judged.
    package var checks: PayloadChecks
    /// Whether channels may be made for it.
    package var allowsBroadcasts: Bool
    /// Where its back-end wants to hear what became of notifications.
    package var webhook: Webhook?

    /// Joins the parts.
    package init(
        id: TopicID, name: String, displayName: String? = nil, teamID: String, checks: PayloadChecks = .warn,
        allowsBroadcasts: Bool = false
    ) {
        self.id = id
        self.name = name
        self.displayName = displayName ?? name
        self.teamID = teamID
        self.checks = checks
        self.allowsBroadcasts = allowsBroadcasts
    }
}

/// Where a back-end wants to hear what became of notifications, and how far it has heard.
package struct Webhook: Sendable, Equatable {
    /// `https://…`, or `http://…` to this machine.
    package var url: String
    /// The key of its signatures.
    package var secret: [UInt8]
    /// What lies before it in the trace, the back-end has.
    package var position: Int64
    /// Since when it does not take it, UNIX milliseconds; nil while it does.
    package var failingUnixMilliseconds: Int64?
    /// What happened the last time, for a person; nil while it takes it.
    package var problem: String?

    /// Joins the parts.
    package init(
        url: String, secret: [UInt8], position: Int64, failingUnixMilliseconds: Int64? = nil, problem: String? = nil
    ) {
        self.url = url
        self.secret = secret
        self.position = position
        self.failingUnixMilliseconds = failingUnixMilliseconds
        self.problem = problem
    }
}

/// A client certificate that the server's own authority issued to a provider, or a foreign one that was revoked here.
package struct ProviderCertificate: Sendable, Equatable {
    /// SHA-256 of the certificate, 32 bytes.
    package var fingerprint: [UInt8]
    /// The serial number in hexadecimal digits.
    package var serialNumber: String
    /// The team of its app.
    package var teamID: String
    /// The topics that it may send to.
    package var topics: [String]
    /// The environment that it is for; nil for both.
    package var environment: Environment?
    /// When it was issued, UNIX seconds.
    package var createdUnixSeconds: Int64
    /// Until when it is valid, UNIX seconds.
    package var expiresUnixSeconds: Int64
    /// When it was revoked, UNIX seconds; nil while it is good.
    package var revokedUnixSeconds: Int64?

    /// Joins the parts.
    package init(
        fingerprint: [UInt8], serialNumber: String, teamID: String, topics: [String], environment: Environment?,
        createdUnixSeconds: Int64, expiresUnixSeconds: Int64, revokedUnixSeconds: Int64? = nil
    ) {
        self.fingerprint = fingerprint
        self.serialNumber = serialNumber
        self.teamID = teamID
        self.topics = topics
        self.environment = environment
        self.createdUnixSeconds = createdUnixSeconds
        self.expiresUnixSeconds = expiresUnixSeconds
        self.revokedUnixSeconds = revokedUnixSeconds
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
    /// Fingerprints of client certificates that were revoked.
    package var revokedCertificates: Set<[UInt8]>
    /// Of the policies, of which devices are told; 0 when there never was one.
    package var policyVersion: Int64

    /// Joins the parts.
    package init(
        version: UInt64, topics: [TopicID: Topic], keys: [String: SigningKey],
        revokedCertificates: Set<[UInt8]> = [], policyVersion: Int64 = 0
    ) {
        self.version = version
        self.topics = topics
        self.keys = keys
        self.revokedCertificates = revokedCertificates
        self.policyVersion = policyVersion
    }
}
