// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The connected devices that subscribe to each channel.
struct Subscribers {
    private var devicesByChannel: [ChannelNumber: Set<DeviceID>] = [:]
    private var channelsByDevice: [DeviceID: [ChannelNumber]] = [:]

    /// Returns the devices that subscribe to a channel, in a fixed order.
    func devices(of channel: ChannelNumber) -> [DeviceID] {
        (devicesByChannel[channel] ?? []).sorted { $0.rawValue < $1.rawValue }
    }

    /// Replaces the channels of a device.
    mutating func set(_ channels: [ChannelNumber], of device: DeviceID) {
        for channel in channelsByDevice[device] ?? [] {
            devicesByChannel[channel]?.remove(device)
            if devicesByChannel[channel]?.isEmpty == true { devicesByChannel[channel] = nil }
        }
        channelsByDevice[device] = channels.isEmpty ? nil : channels
        for channel in channels { devicesByChannel[channel, default: []].insert(device) }
    }
}
