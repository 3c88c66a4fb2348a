// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// The body of `POST /v1/backups`.
    public struct NewBackup: Codable, Sendable {
        /// The directory to make, from the root; one below `backups` in the data directory when nil.
        public var path: String?
        /// Whether an earlier backup of that name may be replaced; false when nil.
        public var replace: Bool?

        /// Joins the parts.
        public init(path: String? = nil, replace: Bool? = nil) {
            self.path = path
            self.replace = replace
        }
    }

    /// A backup, in answers of `/v1/backups`.
    public struct Backup: Codable, Sendable {
        /// How far it is.
        public enum State: String, Codable, Sendable {
            /// Pages are copied while the server goes on.
            case copying
            /// The copy is whole; it is read once to see whether it is good.
            case checking
            /// It is complete and on the disk.
            case done
            /// There is none; `problem` says why.
            case failed
        }

        /// The directory.
        public var path: String
        /// How far it is.
        public var state: State
        /// When it began, UNIX seconds.
        public var startedAt: Int64
        /// When it was done or failed, UNIX seconds.
        public var endedAt: Int64?
        /// The size of the database, in bytes.
        public var byteCount: Int64
        /// What is copied of it.
        public var copiedByteCount: Int64
        /// Why it failed, and what to do.
        public var problem: String?

        /// One that begins.
        public init(path: String, startedAt: Int64) {
            self.path = path
            state = .copying
            self.startedAt = startedAt
            byteCount = 0
            copiedByteCount = 0
        }

        /// Whether it is neither done nor failed.
        public var isUnderWay: Bool {
            switch state {
            case .copying, .checking: true
            case .done, .failed: false
            }
        }

        private enum CodingKeys: String, CodingKey {
            case path, state, problem
            case startedAt = "started_at"
            case endedAt = "ended_at"
            case byteCount = "byte_count"
            case copiedByteCount = "copied_byte_count"
        }
    }

    /// The answer of `GET /v1/backups`.
    public struct Backups: Codable, Sendable {
        /// The last one that this server began; nil before the first one.
        public var last: Backup?

        /// Takes the last one.
        public init(last: Backup?) { self.last = last }
    }
}
