// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// The notifications that wait for a device.
    public struct Queue: Codable, Equatable, Sendable {
        public var deviceID: String
        /// The number of recent notifications; older ones are not counted.
        public var pending: Int
        public var connected: Bool

        public init(deviceID: String, pending: Int, connected: Bool) {
            self.deviceID = deviceID
            self.pending = pending
            self.connected = connected
        }

        private enum CodingKeys: String, CodingKey {
            case pending, connected
            case deviceID = "device_id"
        }
    }

    /// The response of `GET /v1/queues`.
    public struct Queues: Codable, Sendable {
        /// The longest queues, the longest first.
        public var queues: [Queue]

        public init(queues: [Queue]) { self.queues = queues }
    }
}
