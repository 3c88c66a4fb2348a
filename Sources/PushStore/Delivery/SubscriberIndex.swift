// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// An index of the connected devices' channel subscriptions.
///
/// It is loaded when a stream opens and updated by committed events. A broadcast finds its connected subscribers here
/// without a query.
struct SubscriberIndex {
    private var listeners: [ChannelNumber: [DeviceID: DeviceTokenContents]] = [:]
    private var channels: [DeviceID: Set<ChannelNumber>] = [:]

    /// Returns the registrations that receive a broadcast of a channel now, by device.
    func listeners(of channel: ChannelNumber) -> [DeviceID: DeviceTokenContents] { listeners[channel] ?? [:] }

    /// Returns whether a device subscribes to any channel.
    func listens(_ device: DeviceID) -> Bool { channels[device] != nil }

    /// Replaces the subscriptions of a device.
    mutating func set(_ device: DeviceID, _ all: [SubscriptionTable.Listener]) {
        remove(device)
        for listener in all { add(listener) }
    }

    /// Adds one subscription of a device.
    mutating func add(_ listener: SubscriptionTable.Listener) {
        listeners[listener.channel, default: [:]][listener.token.device] = listener.token
        channels[listener.token.device, default: []].insert(listener.channel)
    }

    /// Removes one subscription of a device.
    mutating func remove(_ device: DeviceID, from channel: ChannelNumber) {
        forgetListener(device, of: channel)
        channels[device]?.remove(channel)
        if channels[device]?.isEmpty == true { channels[device] = nil }
    }

    /// Removes all subscriptions of a device.
    mutating func remove(_ device: DeviceID) {
        for channel in channels.removeValue(forKey: device) ?? [] { forgetListener(device, of: channel) }
    }

    /// Removes all subscriptions to a channel.
    mutating func remove(_ channel: ChannelNumber) {
        for device in listeners(of: channel).keys { remove(device, from: channel) }
    }

    private mutating func forgetListener(_ device: DeviceID, of channel: ChannelNumber) {
        listeners[channel]?[device] = nil
        if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
    }
}
