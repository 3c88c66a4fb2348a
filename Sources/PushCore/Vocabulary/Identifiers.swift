// SPDX-License-Identifier: Apache-2.0

/// The ID of one user account on one computer; random, positive and never reused.
public struct DeviceID: RawRepresentable, Hashable, Sendable {
    /// The number; its top bit is clear, so that it fits into SQLite's signed INTEGER.
    public let rawValue: UInt64

    /// Wraps a number from the store or from a device token.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The server's number for an app; ascending and never reused.
public struct TopicID: RawRepresentable, Hashable, Sendable {
    /// The number; the first one is 1.
    public let rawValue: UInt32

    /// Wraps a number from the store or from a device token.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A UUID as sixteen bytes in network byte order.
public struct UniqueID: Hashable, Sendable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The decrypted contents of a device token: sixteen bytes.
///
/// The layout is big-endian: device ID (8), topic ID (4), registration generation (4).
public struct DeviceTokenContents: Hashable, Sendable {
    /// The device on which the app is registered.
    public let device: DeviceID
    public let topic: TopicID
    /// The number of the registration of this app on this device; older generations are `Unregistered`.
    public let generation: UInt32

    public init(device: DeviceID, topic: TopicID, generation: UInt32) {
        self.device = device
        self.topic = topic
        self.generation = generation
    }
}
