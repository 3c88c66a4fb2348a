// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension CredentialAPI {
    /// The response of `POST /v1/enrolment-codes`.
    public struct EnrolmentCode: Codable, Sendable {
        /// The code, which works once.
        public var code: String
        /// The time at which the code expires.
        public var expiresAt: Timestamp
        /// The URL that devices connect to, for example `https://push.example.org:2197`.
        public var serverURL: String
        /// The file of the authority that a device must trust; nil if the server's certificate is configured.
        public var caFile: String?
        /// The ID by which the code can be revoked; nil from an older server.
        public var id: String?

        public init(code: String, expiresAt: Timestamp, serverURL: String, caFile: String?, id: String? = nil) {
            self.id = id
            self.code = code
            self.expiresAt = expiresAt
            self.serverURL = serverURL
            self.caFile = caFile
        }

        private enum CodingKeys: String, CodingKey {
            case code, id
            case expiresAt = "expires_at"
            case serverURL = "server_url"
            case caFile = "ca_file"
        }
    }

    /// An enrolment code that no device has used, in the answer of `GET /v1/enrolment-codes`.
    public struct UnusedCode: Codable, Equatable, Sendable {
        /// Eight lower-case hexadecimal digits: the beginning of the hash of the code's secret.
        public var id: String
        /// The time of creation.
        public var createdAt: Timestamp
        /// The last second in which the code is valid.
        public var expiresAt: Timestamp

        /// Creates the description of a code.
        public init(id: String, createdAt: Timestamp, expiresAt: Timestamp) {
            self.id = id
            self.createdAt = createdAt
            self.expiresAt = expiresAt
        }

        private enum CodingKeys: String, CodingKey {
            case id
            case createdAt = "created_at"
            case expiresAt = "expires_at"
        }
    }

    /// The answer of `GET /v1/enrolment-codes`.
    public struct UnusedCodes: Codable, Sendable {
        /// The codes, oldest first.
        public var codes: [UnusedCode]

        /// Creates the answer.
        public init(codes: [UnusedCode]) { self.codes = codes }
    }
}
