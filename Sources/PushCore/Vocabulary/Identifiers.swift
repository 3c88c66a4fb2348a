// SPDX-License-Identifier: Apache-2.0

/// One user account on one computer; random, positive, never used again.
public struct DeviceID: RawRepresentable, Hashable, Sendable {
    /// The number; its top bit is clear, so that it fits SQLite's INTEGER.
    public let rawValue: UInt64

    /// Adopts a number from the store or a device token.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One app that notifications are for, as the server numbers it; ascending, never used again.
public struct TopicID: RawRepresentable, Hashable, Sendable {
    /// The number, from 1.
    public let rawValue: UInt32

    /// Adopts a number from the store or a device token.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A UUID as sixteen bytes in network order.
public struct UniqueID: Hashable, Sendable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// Joins two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// What a device token says once it is opened: sixteen bytes.
///
/// Layout, big-endian: device id (8), topic id (4), registration generation (4).
public struct DeviceTokenContents: Hashable, Sendable {
    /// The device that the app is on.
    public let device: DeviceID
    /// The app.
    public let topic: TopicID
    /// Counts the registrations of this app on this device; an older generation is `Unregistered`.
    public let generation: UInt32

    /// Joins the three parts.
    public init(device: DeviceID, topic: TopicID, generation: UInt32) {
        self.device = device
        self.topic = topic
        self.generation = generation
    }
}
