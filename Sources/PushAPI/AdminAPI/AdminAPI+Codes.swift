// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// An enrolment code that no device has used, in the answer of `GET /v1/enrolment-codes`.
    public struct UnusedCode: Codable, Equatable, Sendable {
        /// Eight lower-case hexadecimal digits: the beginning of the hash of the code's secret.
        public var id: String
        /// The time of creation, in UNIX seconds.
        public var createdAt: Int64
        /// The last second in which the code is valid, in UNIX seconds.
        public var expiresAt: Int64

        /// Creates the description of a code.
        public init(id: String, createdAt: Int64, expiresAt: Int64) {
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
