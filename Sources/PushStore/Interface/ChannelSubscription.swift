// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A channel's number in the store; ascending and never reused.
struct ChannelNumber: RawRepresentable, Hashable, Sendable {
    let rawValue: Int64
}

/// A device's subscription to a channel, whose broadcasts the device accepts.
struct ChannelSubscription: Sendable {
    var channel: ChannelNumber
    /// The registration that receives the broadcasts.
    var token: DeviceTokenContents
}
