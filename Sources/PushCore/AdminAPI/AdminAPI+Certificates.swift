// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// The body of `POST /v1/certificates`.
    public struct NewCertificate: Codable, Sendable {
        /// The kinds of certificate that Apple issues.
        public enum Kind: String, CaseIterable, Codable, Sendable {
            /// For the topic alone; a request need not name it.
            case single
            /// For the topic and those of voip, complication and pushtotalk; a request must name one.
            case universal
            /// For the topic of voip alone.
            case voip
        }

        /// The app; its team is the certificate's.
        public var topic: String
        /// Which topics of the app it is for; single when nil.
        public var kind: Kind?
        /// The environment that it is for; both when nil.
        public var environment: Environment?
        /// How long it is valid; `daysUsual` when nil, at most `Limits.certificateDayCountMax`.
        public var days: Int?

        /// A year, as Apple's.
        public static let daysUsual = 365

        /// Joins the parts.
        public init(topic: String, kind: Kind? = nil, environment: Environment? = nil, days: Int? = nil) {
            self.topic = topic
            self.kind = kind
            self.environment = environment
            self.days = days
        }
    }

    /// The body of `POST /v1/certificates/revoked`.
    public struct RevokedCertificate: Codable, Sendable {
        /// SHA-256 of the certificate, 64 hexadecimal digits.
        public var fingerprint: String

        /// Takes the fingerprint.
        public init(fingerprint: String) { self.fingerprint = fingerprint }
    }

    /// A provider certificate, in answers of `/v1/certificates`.
    public struct Certificate: Codable, Sendable {
        /// SHA-256 of the certificate, 64 hexadecimal digits: by this it is known and revoked.
        public var fingerprint: String
        /// The serial number as `openssl x509 -serial` shows it.
        public var serialNumber: String
        /// The team of its app; empty for a foreign certificate that was revoked here.
        public var teamID: String
        /// The topics that it may send to; none for a foreign certificate that was revoked here.
        public var topics: [String]
        /// The environment that it is for; nil for both.
        public var environment: Environment?
        /// When it was issued, UNIX seconds.
        public var createdAt: Int64
        /// Until when it is valid, UNIX seconds; 0 for a foreign certificate that was revoked here.
        public var expiresAt: Int64
        /// When it was revoked, UNIX seconds; nil while it is good.
        public var revokedAt: Int64?
        /// The certificate, PEM; only in the answer that issued it.
        public var certificate: String?
        /// The private key, PKCS#8 PEM; only in the answer that issued it, never kept.
        public var privateKey: String?

        /// Joins the parts.
        public init(
            fingerprint: String, serialNumber: String, teamID: String, topics: [String], environment: Environment?,
            createdAt: Int64, expiresAt: Int64, revokedAt: Int64? = nil, certificate: String? = nil,
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

    /// The answer of `GET /v1/certificates`.
    public struct Certificates: Codable, Sendable {
        /// Oldest first.
        public var certificates: [Certificate]

        /// Takes the list.
        public init(certificates: [Certificate]) { self.certificates = certificates }
    }
}
