// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension AdminAPI {
    /// The body of `POST /v1/backups`.
    public struct NewBackup: Codable, Sendable {
        /// The absolute path of the directory to create; one below `backups` in the data directory when nil.
        public var path: String?
        /// Whether the server may replace an earlier backup of that name; false when nil.
        public var replace: Bool?

        public init(path: String? = nil, replace: Bool? = nil) {
            self.path = path
            self.replace = replace
        }
    }

    /// A backup in the responses of `/v1/backups`.
    public struct Backup: Codable, Sendable {
        /// The progress of a backup.
        public enum State: String, Codable, Sendable {
            /// The server copies pages while it continues to serve.
            case copying
            /// The copy is complete; the server reads it once to verify it.
            case checking
            /// The backup is complete and flushed to disk.
            case done
            /// There is no backup; `problem` gives the reason.
            case failed
        }

        /// The directory of the backup.
        public var path: String
        public var state: State
        /// The time at which the backup started.
        public var startedAt: Timestamp
        /// The time at which the backup completed or failed.
        public var endedAt: Timestamp?
        /// The size of the database, in bytes.
        public var byteCount: Int64
        /// The number of bytes copied so far.
        public var copiedByteCount: Int64
        /// The reason for the failure and the remedy.
        public var problem: String?

        /// Creates a backup in the state `copying`.
        public init(path: String, startedAt: Timestamp) {
            self.path = path
            state = .copying
            self.startedAt = startedAt
            byteCount = 0
            copiedByteCount = 0
        }

        /// Whether the backup is neither done nor failed.
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

    /// The response of `GET /v1/backups`.
    public struct Backups: Codable, Sendable {
        /// The last backup that this server process started; nil before the first one.
        public var last: Backup?

        public init(last: Backup?) { self.last = last }
    }
}
