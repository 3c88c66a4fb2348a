// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension AdminAPI {
    /// A device in the responses of `/v1/devices`.
    public struct Device: Codable, Sendable {
        /// The device ID: sixteen hexadecimal digits.
        public var deviceID: String
        /// The label: user and host by default, or the name in `agent.ini`, or what an administrator set.
        public var name: String
        /// The platform, for example `linux`.
        public var platform: String
        /// The time of enrolment.
        public var enrolledAt: Timestamp
        /// Whether the device's stream is open now.
        public var connected: Bool
        /// The topics that are registered on the device.
        public var topics: [TopicName]
        /// The number of notifications that wait for the device.
        public var pendingCount: Int
        /// The end of the last stream, or the hour of a later request; nil if unknown.
        public var seenAt: Timestamp?
        /// The name and version of the device's agent; empty before its first connection.
        public var agent: String

        public init(
            deviceID: String, name: String, platform: String, enrolledAt: Timestamp, connected: Bool,
            topics: [TopicName],
            pendingCount: Int, seenAt: Timestamp? = nil, agent: String = ""
        ) {
            self.deviceID = deviceID
            self.name = name
            self.platform = platform
            self.enrolledAt = enrolledAt
            self.connected = connected
            self.topics = topics
            self.pendingCount = pendingCount
            self.seenAt = seenAt
            self.agent = agent
        }

        private enum CodingKeys: String, CodingKey {
            case name, platform, connected, topics, agent
            case seenAt = "seen_at"
            case deviceID = "device_id"
            case enrolledAt = "enrolled_at"
            case pendingCount = "pending_count"
        }
    }

    /// The body of `PATCH /v1/devices/{id}`.
    public struct DeviceChange: Codable, Sendable {
        /// The new label.
        public var name: String

        public init(name: String) { self.name = name }
    }

    /// The response of `GET /v1/devices`.
    public struct Devices: Codable, Sendable {
        /// The devices, oldest first.
        public var devices: [Device]
        /// The device ID after which the next page starts; nil on the last page.
        public var next: String?

        public init(devices: [Device], next: String? = nil) {
            self.devices = devices
            self.next = next
        }
    }
}
