// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Which of the devices with an open stream listen to which channel.
///
/// Loaded when a stream opens and kept by what is committed after that, so that a broadcast finds those who are
/// connected without asking the table.
struct Audience {
    private var listeners: [ChannelNumber: [DeviceID: DeviceTokenContents]] = [:]
    private var channels: [DeviceID: Set<ChannelNumber>] = [:]

    /// The registrations that a broadcast of a channel goes to now, by device.
    func listeners(of channel: ChannelNumber) -> [DeviceID: DeviceTokenContents] { listeners[channel] ?? [:] }

    /// Whether a device listens to any channel.
    func listens(_ device: DeviceID) -> Bool { channels[device] != nil }

    /// Replaces what a device listens to.
    mutating func set(_ device: DeviceID, _ all: [SubscriptionTable.Listener]) {
        remove(device)
        for listener in all { add(listener) }
    }

    /// Lets a device listen to one more channel.
    mutating func add(_ listener: SubscriptionTable.Listener) {
        listeners[listener.channel, default: [:]][listener.token.device] = listener.token
        channels[listener.token.device, default: []].insert(listener.channel)
    }

    /// Forgets that a device listens to a channel.
    mutating func remove(_ device: DeviceID, from channel: ChannelNumber) {
        forgetListener(device, of: channel)
        channels[device]?.remove(channel)
        if channels[device]?.isEmpty == true { channels[device] = nil }
    }

    /// Forgets a device.
    mutating func remove(_ device: DeviceID) {
        for channel in channels.removeValue(forKey: device) ?? [] { forgetListener(device, of: channel) }
    }

    /// Forgets a channel.
    mutating func remove(_ channel: ChannelNumber) {
        for device in listeners(of: channel).keys { remove(device, from: channel) }
    }

    private mutating func forgetListener(_ device: DeviceID, of channel: ChannelNumber) {
        listeners[channel]?[device] = nil
        if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
    }
}
