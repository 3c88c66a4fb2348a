// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The public key with which a provider's tokens are verified.
package struct SigningKey: Sendable, Equatable {
    /// The key ID, ten characters A-Z and 0-9 (`kid`).
    package var id: String
    /// The team ID, ten characters A-Z and 0-9 (`iss`).
    package var teamID: String
    /// The topics that the key may send to; nil for every topic of the team.
    package var topics: [TopicName]?
    /// The public key as a DER-encoded SubjectPublicKeyInfo.
    package var publicKey: [UInt8]
    /// The creation time, in whole seconds.
    package var createdAt: Timestamp
    /// The revocation time, in whole seconds; nil while the key is valid.
    package var revokedAt: Timestamp?
    /// The environment in which the key is valid; nil for both.
    package var environment: Environment?

    package init(
        id: String, teamID: String, topics: [TopicName]?, publicKey: [UInt8], createdAt: Timestamp,
        revokedAt: Timestamp? = nil, environment: Environment? = nil
    ) {
        self.id = id
        self.teamID = teamID
        self.topics = topics
        self.publicKey = publicKey
        self.createdAt = createdAt
        self.revokedAt = revokedAt
        self.environment = environment
    }
}

/// An app that receives notifications.
package struct Topic: Sendable, Equatable {
    /// The topic's number in device tokens.
    package var id: TopicID
    /// The topic, for example `com.example.MyApp`.
    package var name: TopicName
    /// The app's name for users.
    package var displayName: String
    /// The team that owns the app.
    package var teamID: String
    /// The level of the payload validation.
    package var checks: PayloadChecks
    /// Whether the app may have channels.
    package var allowsBroadcasts: Bool
    /// The webhook that reports delivery events to the app's back-end; nil for none.
    package var webhook: Webhook?

    package init(
        id: TopicID, name: TopicName, displayName: String? = nil, teamID: String, checks: PayloadChecks = .warn,
        allowsBroadcasts: Bool = false
    ) {
        self.id = id
        self.name = name
        self.displayName = displayName ?? name.text
        self.teamID = teamID
        self.checks = checks
        self.allowsBroadcasts = allowsBroadcasts
    }
}

/// A webhook of an app's back-end and its progress in the trace.
package struct Webhook: Sendable, Equatable {
    /// The URL: `https://…`, or `http://…` for this machine.
    package var url: String
    /// The key that signs the requests.
    package var secret: [UInt8]
    /// The trace position up to which the back-end has received all events.
    package var position: Int64
    /// The time of the first failed request since the last success; nil without a failure.
    package var failingSince: Timestamp?
    /// A description of the last failure for administrators; nil without a failure.
    package var problem: String?

    package init(
        url: String, secret: [UInt8], position: Int64, failingSince: Timestamp? = nil, problem: String? = nil
    ) {
        self.url = url
        self.secret = secret
        self.position = position
        self.failingSince = failingSince
        self.problem = problem
    }
}

/// A client certificate that the server's own authority issued, or a foreign one that was revoked on this server.
package struct ProviderCertificate: Sendable, Equatable {
    /// The SHA-256 of the certificate, 32 bytes.
    package var fingerprint: [UInt8]
    /// The serial number in hexadecimal digits.
    package var serialNumber: String
    /// The team of the certificate's app.
    package var teamID: String
    /// The topics that the certificate may send to, with the push type's suffix if they have one.
    package var topics: [String]
    /// The environment in which the certificate is valid; nil for both.
    package var environment: Environment?
    /// The time of issue, in whole seconds.
    package var createdAt: Timestamp
    /// The end of validity, in whole seconds.
    package var expiresAt: Timestamp
    /// The revocation time, in whole seconds; nil while the certificate is valid.
    package var revokedAt: Timestamp?

    package init(
        fingerprint: [UInt8], serialNumber: String, teamID: String, topics: [String], environment: Environment?,
        createdAt: Timestamp, expiresAt: Timestamp, revokedAt: Timestamp? = nil
    ) {
        self.fingerprint = fingerprint
        self.serialNumber = serialNumber
        self.teamID = teamID
        self.topics = topics
        self.environment = environment
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }
}

/// An immutable snapshot with which a loop checks a notification without asking the store.
package struct Directory: Sendable {
    /// A number that grows with each change, so that results from an older directory are checked again.
    package var version: UInt64
    /// The topics by number.
    package var topics: [TopicID: Topic]
    /// The keys by ID, including revoked ones.
    package var keys: [String: SigningKey]
    /// The fingerprints of revoked client certificates.
    package var revokedCertificates: Set<[UInt8]>
    /// The send tokens, by hash.
    package var sendTokens: [[UInt8]: SendToken]
    /// The version of the policies, which devices are notified of; 0 when policies were never set.
    package var policyVersion: Int64
    /// The version of the announced authorities, which devices are notified of; 0 when none were announced.
    package var authorityVersion: Int64

    package init(
        version: UInt64, topics: [TopicID: Topic], keys: [String: SigningKey],
        revokedCertificates: Set<[UInt8]> = [], sendTokens: [[UInt8]: SendToken] = [:], policyVersion: Int64 = 0,
        authorityVersion: Int64 = 0
    ) {
        self.version = version
        self.topics = topics
        self.keys = keys
        self.revokedCertificates = revokedCertificates
        self.sendTokens = sendTokens
        self.policyVersion = policyVersion
        self.authorityVersion = authorityVersion
    }

    /// Returns whether a request that was allowed with an earlier directory is allowed with this one too.
    ///
    /// So apps, keys and send tokens may only have been added.
    package func allowsAll(allowedBy earlier: Directory) -> Bool {
        earlier.topics.allSatisfy { topics[$0.key] == $0.value } && earlier.keys.allSatisfy { keys[$0.key] == $0.value }
            && revokedCertificates.isSubset(of: earlier.revokedCertificates)
            && earlier.sendTokens.allSatisfy { sendTokens[$0.key] == $0.value }
    }
}
