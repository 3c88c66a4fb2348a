// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A channel's number in the store; ascending and never reused.
package struct ChannelNumber: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A device's subscription to a channel, whose broadcasts the device accepts.
package struct ChannelSubscription: Sendable {
    package var channel: ChannelNumber
    /// The registration that receives the broadcasts.
    package var token: DeviceTokenContents

    package init(channel: ChannelNumber, token: DeviceTokenContents) {
        self.channel = channel
        self.token = token
    }
}
