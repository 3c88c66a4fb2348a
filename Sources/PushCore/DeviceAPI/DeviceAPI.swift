// SPDX-License-Identifier: Apache-2.0

/// The bodies of the device API; docs/reference/device-protocol.md shows each with an example.
public enum DeviceAPI {
    /// The body of `POST /v1/devices`.
    public struct Enrolment: Codable, Sendable {
        /// The enrolment code; nil where the server allows open enrolment.
        public var code: String?
        /// What people call the machine.
        public var name: String
        /// For example `linux`.
        public var platform: String

        /// Joins the parts.
        public init(code: String?, name: String, platform: String) {
            self.code = code
            self.name = name
            self.platform = platform
        }
    }

    /// The answer to an enrolment.
    public struct EnrolledDevice: Codable, Sendable {
        /// The device id, sixteen hexadecimal digits.
        public var deviceID: String
        /// The bearer secret of every later request; shown once, the server keeps only its hash.
        public var deviceSecret: String

        /// Joins the parts.
        public init(deviceID: String, deviceSecret: String) {
            self.deviceID = deviceID
            self.deviceSecret = deviceSecret
        }

        private enum CodingKeys: String, CodingKey {
            case deviceID = "device_id"
            case deviceSecret = "device_secret"
        }
    }

    /// The body of `PUT /v1/apps/{topic}`; may be left out.
    public struct NewRegistration: Codable, Sendable {
        /// The environment that the device token is for; production when nil.
        public var environment: Environment?

        /// Takes the environment.
        public init(environment: Environment? = nil) { self.environment = environment }
    }

    /// The answer to `GET /v1/apps/{topic}/channels`.
    public struct Subscriptions: Codable, Sendable {
        /// The channels that the app on this device subscribed to, in the order of subscription.
        public var channels: [String]

        /// Takes the list.
        public init(channels: [String]) { self.channels = channels }
    }

    /// The answer to `PUT /v1/apps/{topic}`.
    public struct Registration: Codable, Sendable {
        /// The topic that was registered.
        public var topic: String
        /// 64 hexadecimal digits, which the app hands to its provider.
        public var deviceToken: String

        /// Joins the parts.
        public init(topic: String, deviceToken: String) {
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
        /// Topics of which the device wants nothing; replaces the earlier filter wholly.
        public var refusedTopics: [String]

        /// Takes the list.
        public init(refusedTopics: [String]) { self.refusedTopics = refusedTopics }

        private enum CodingKeys: String, CodingKey {
            case refusedTopics = "refused_topics"
        }
    }

    /// What became of a notification on the device.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case delivered, shown, viewed, closed, suppressed
    }

    /// One acknowledgement.
    public struct Acknowledgement: Codable, Sendable {
        /// The `id` of the event on the stream.
        public var id: Int64
        /// What became of it; each of them also acknowledges.
        public var outcome: Outcome
        /// Why it was suppressed.
        public var reason: String?

        /// Joins the parts.
        public init(id: Int64, outcome: Outcome, reason: String? = nil) {
            self.id = id
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// The body of `PUT /v1/power`.
    public struct Power: Codable, Sendable {
        /// Whether the device saves power: notifications of priority 5 and 1 may then come later, together.
        public var saving: Bool

        /// Tells whether it does.
        public init(saving: Bool) { self.saving = saving }
    }

    /// The body of `POST /v1/acks`.
    public struct Acknowledgements: Codable, Sendable {
        /// At most `Limits.acknowledgementBatchCountMax` of them.
        public var acks: [Acknowledgement]

        /// Takes the list.
        public init(acks: [Acknowledgement]) { self.acks = acks }
    }

    /// The body of every refusal of the device and admin API.
    public struct Failure: Codable, Sendable, Error {
        /// A stable word.
        public var error: String
        /// What to do about it, for a person.
        public var detail: String

        /// Joins the parts.
        public init(error: String, detail: String) {
            self.error = error
            self.detail = detail
        }
    }
}
