// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension CredentialAPI {
    /// The body of `POST /v1/certificates`.
    public struct NewCertificate: Codable, Sendable {
        /// The kinds of certificate that Apple issues.
        public enum Kind: String, CaseIterable, Codable, Sendable {
            /// Valid for the app's topic only; a request may omit the topic.
            case single
            /// Valid for the topic and its voip, complication and pushtotalk topics; a request must name one.
            case universal
            /// Valid for the voip topic only.
            case voip
        }

        /// The app's topic; the certificate belongs to the app's team.
        public var topic: TopicName
        /// The topics of the app that the certificate is valid for; `single` when nil.
        public var kind: Kind?
        /// The environment that the certificate is valid for; both when nil.
        public var environment: Environment?
        /// The validity in days; `daysUsual` when nil, at most `Limits.certificateDayCountMax`.
        public var days: Int?

        /// The default validity: one year, as in Apple's certificates.
        public static let daysUsual = 365

        public init(topic: TopicName, kind: Kind? = nil, environment: Environment? = nil, days: Int? = nil) {
            self.topic = topic
            self.kind = kind
            self.environment = environment
            self.days = days
        }
    }

    /// The body of `POST /v1/certificates/revoked`.
    public struct RevokedCertificate: Codable, Sendable {
        /// The SHA-256 of the certificate, as 64 hexadecimal digits.
        public var fingerprint: String

        public init(fingerprint: String) { self.fingerprint = fingerprint }
    }

    /// A provider certificate in the responses of `/v1/certificates`.
    public struct Certificate: Codable, Sendable {
        /// The SHA-256 of the certificate, as 64 hexadecimal digits; it identifies the certificate, also for
        /// revocation.
        public var fingerprint: String
        /// The serial number in the format of `openssl x509 -serial`.
        public var serialNumber: String
        /// The team of the certificate's app; empty for a foreign certificate that was revoked here.
        public var teamID: String
        /// The topics that the certificate may send to, with the push type's suffix if they have one.
        ///
        /// The list is empty for a foreign certificate that was revoked here.
        public var topics: [String]
        /// The environment that the certificate is valid for; nil for both.
        public var environment: Environment?
        /// The time of issue.
        public var createdAt: Timestamp
        /// The end of validity; `unixEpoch` for a foreign certificate that was revoked here.
        public var expiresAt: Timestamp
        /// The time of revocation; nil while the certificate is not revoked.
        public var revokedAt: Timestamp?
        /// The certificate in PEM; only the response that issues it contains it.
        public var certificate: String?
        /// The private key in PKCS#8 PEM; only the response that issues it contains it, and the server never stores it.
        public var privateKey: String?

        public init(
            fingerprint: String, serialNumber: String, teamID: String, topics: [String], environment: Environment?,
            createdAt: Timestamp, expiresAt: Timestamp, revokedAt: Timestamp? = nil, certificate: String? = nil,
            privateKey: String? = nil
        ) {
            self.fingerprint = fingerprint
            self.serialNumber = serialNumber
            self.teamID = teamID
            self.topics = topics
            self.environment = environment
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.revokedAt = revokedAt
            self.certificate = certificate
            self.privateKey = privateKey
        }

        private enum CodingKeys: String, CodingKey {
            case fingerprint, topics, environment, certificate
            case serialNumber = "serial_number"
            case teamID = "team_id"
            case createdAt = "created_at"
            case expiresAt = "expires_at"
            case revokedAt = "revoked_at"
            case privateKey = "private_key"
        }
    }

    /// The response of `GET /v1/certificates`.
    public struct Certificates: Codable, Sendable {
        /// The certificates, oldest first.
        public var certificates: [Certificate]

        public init(certificates: [Certificate]) { self.certificates = certificates }
    }
}
