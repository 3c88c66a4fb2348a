// SPDX-License-Identifier: Apache-2.0

/// The responses of the send API.
public enum SendAPI {
    /// A notification to one device, or a broadcast.
    public struct Sent: Codable, Equatable, Sendable {
        /// The device; nil for a broadcast.
        public var deviceID: String?
        public var apnsUniqueID: String

        public init(deviceID: String?, apnsUniqueID: String) {
            self.deviceID = deviceID
            self.apnsUniqueID = apnsUniqueID
        }

        private enum CodingKeys: String, CodingKey {
            case deviceID = "device_id"
            case apnsUniqueID = "apns_unique_id"
        }
    }

    /// The result of a request.
    public struct Result: Codable, Equatable, Sendable {
        /// The `apns-id` of all notifications of the request.
        public var id: String
        /// The number of notifications that the server accepted.
        public var accepted = 0
        /// The number of notifications that the server refused; nil for none.
        public var refused: Int?
        /// The last reason of a refusal.
        public var reason: String?
        /// The first notifications, at most `Limits.sendListedCountMax`.
        public var notifications: [Sent] = []
        /// The named devices on which the app is not registered; nil for none.
        public var unregistered: [String]?
        /// The findings of the payload checks; nil for none.
        public var warnings: [String]?
        /// The parts of the request that have no effect; nil for none.
        public var ignored: [String]?
        /// A remark for people; nil if there is nothing to say.
        public var detail: String?

        public init(id: String, warnings: [String]? = nil, ignored: [String]? = nil) {
            self.id = id
            self.warnings = warnings
            self.ignored = ignored
        }
    }

    /// The response in the form of ntfy, with the result beside it.
    ///
    /// - SeeAlso: ntfy's documentation, "Subscribe", "JSON message format"
    public struct NtfyMessage: Codable, Sendable {
        public var id: String
        /// The acceptance, in UNIX seconds.
        public var time: Int64
        /// The expiration, in UNIX seconds.
        public var expires: Int64
        public var event = "message"
        public var topic: String
        public var title: String?
        public var message: String
        public var posthorn: Result

        public init(
            id: String, time: Int64, expires: Int64, topic: String, title: String?, message: String, result: Result
        ) {
            self.id = id
            self.time = time
            self.expires = expires
            self.topic = topic
            self.title = title
            self.message = message
            posthorn = result
        }
    }

    /// The response in the form of Gotify, with the result beside it.
    ///
    /// - SeeAlso: Gotify's API documentation, "message"
    public struct GotifyMessage: Codable, Sendable {
        /// Gotify numbers its messages; the ID of this server's is in `posthorn`.
        public var id = 0
        public var appid = 0
        public var message: String
        public var title: String
        public var priority: Int64
        public var posthorn: Result

        public init(message: String, title: String, priority: Int64, result: Result) {
            self.message = message
            self.title = title
            self.priority = priority
            posthorn = result
        }
    }

    /// A refusal with the members of both ntfy and Gotify.
    public struct ForeignFailure: Codable, Sendable {
        /// The HTTP status and two digits, as in ntfy.
        public var code: Int
        public var http: Int
        /// The problem and its solution.
        public var error: String
        public var errorCode: Int
        /// The stable error word and the problem, as in Gotify.
        public var errorDescription: String

        public init(status: Int, error: String, detail: String) {
            code = status * 100 + 1
            http = status
            self.error = detail
            errorCode = status
            errorDescription = "\(error): \(detail)"
        }
    }
}
