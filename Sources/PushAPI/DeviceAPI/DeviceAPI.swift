// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The bodies of the device API; docs/reference/device-protocol.md shows each with an example.
public enum DeviceAPI {
    /// The body of `POST /v1/devices`.
    public struct Enrolment: Codable, Sendable {
        /// The enrolment code; nil if the server allows open enrolment.
        public var code: String?
        /// The machine's display name.
        public var name: String
        /// The platform, for example `linux`.
        public var platform: String

        /// A random text that makes a retry idempotent when the response was lost; nil for none.
        public var requestID: String?

        public init(code: String?, name: String, platform: String, requestID: String? = nil) {
            self.code = code
            self.name = name
            self.platform = platform
            self.requestID = requestID
        }

        private enum CodingKeys: String, CodingKey {
            case code, name, platform
            case requestID = "request_id"
        }
    }

    /// The response to an enrolment.
    public struct EnrolledDevice: Codable, Sendable {
        /// The device ID: sixteen hexadecimal digits.
        public var deviceID: String
        /// The bearer secret of every later request; the server sends it once and stores only its hash.
        public var deviceSecret: String

        public init(deviceID: String, deviceSecret: String) {
            self.deviceID = deviceID
            self.deviceSecret = deviceSecret
        }

        private enum CodingKeys: String, CodingKey {
            case deviceID = "device_id"
            case deviceSecret = "device_secret"
        }
    }

    /// The body of `PUT /v1/apps/{topic}`, which may be absent.
    public struct NewRegistration: Codable, Sendable {
        /// The environment that the device token is valid for; production when nil.
        public var environment: Environment?

        public init(environment: Environment? = nil) { self.environment = environment }
    }

    /// The response of `GET /v1/apps/{topic}/channels`.
    public struct Subscriptions: Codable, Sendable {
        /// The channels to which the app on this device is subscribed, in the order of subscription.
        public var channels: [String]

        public init(channels: [String]) { self.channels = channels }
    }

    /// The response of `PUT /v1/apps/{topic}`.
    public struct Registration: Codable, Sendable {
        public var topic: TopicName
        /// The device token as 64 hexadecimal digits; the app passes it to its provider.
        public var deviceToken: String

        public init(topic: TopicName, deviceToken: String) {
            self.topic = topic
            self.deviceToken = deviceToken
        }

        private enum CodingKeys: String, CodingKey {
            case topic
            case deviceToken = "device_token"
        }
    }

    /// The body of `PUT /v1/filter`.
    public struct Filter: Codable, Sendable {
        /// The topics that the device refuses; the list replaces the previous filter completely.
        public var refusedTopics: [TopicName]

        public init(refusedTopics: [TopicName]) { self.refusedTopics = refusedTopics }

        private enum CodingKeys: String, CodingKey {
            case refusedTopics = "refused_topics"
        }
    }

    /// The result of a notification on the device.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case delivered, shown, viewed, closed, suppressed
    }

    /// An acknowledgement of one notification, with its outcome.
    public struct Acknowledgement: Codable, Sendable {
        /// The `id` of the event on the stream.
        public var id: Int64
        /// The result of the notification; every outcome acknowledges it.
        public var outcome: Outcome
        /// The reason for outcome `suppressed`.
        public var reason: String?

        public init(id: Int64, outcome: Outcome, reason: String? = nil) {
            self.id = id
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// The body of `PUT /v1/power`.
    public struct Power: Codable, Sendable {
        /// Whether the device saves power; the server may then delay notifications of priority 5 and 1 and batch them.
        public var saving: Bool

        public init(saving: Bool) { self.saving = saving }
    }

    /// The body of `POST /v1/acks`.
    public struct Acknowledgements: Codable, Sendable {
        /// The acknowledgements, at most `Limits.acknowledgementBatchCountMax`.
        public var acks: [Acknowledgement]

        public init(acks: [Acknowledgement]) { self.acks = acks }
    }

    /// The body of every error response of the device and admin APIs.
    public struct Failure: Codable, Sendable, Error {
        /// A stable error code.
        public var error: String
        /// The remedy, for a human reader.
        public var detail: String

        public init(error: String, detail: String) {
            self.error = error
            self.detail = detail
        }
    }
}
