// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// An index of the connected devices' channel subscriptions.
///
/// A stream that opens adds its subscriptions, and committed events update them. So a broadcast finds its connected
/// subscribers without a query.
struct SubscriberIndex {
    /// A connected device that subscribes to a channel.
    struct Subscriber {
        var queue: DeviceQueue
        /// The registration that receives the broadcasts.
        var token: DeviceTokenContents
    }

    private var byChannel: [ChannelNumber: [DeviceID: Subscriber]] = [:]

    /// Returns the devices that receive a broadcast of a channel now.
    func subscribers(of channel: ChannelNumber) -> some Collection<Subscriber> { (byChannel[channel] ?? [:]).values }

    /// Replaces the subscriptions of a device.
    mutating func set(_ queue: DeviceQueue, _ all: [ChannelSubscription]) {
        remove(queue)
        for subscription in all { add(queue, subscription) }
    }

    /// Removes and returns the subscriptions of a device.
    mutating func take(_ queue: DeviceQueue) -> [ChannelSubscription] {
        let subscriptions = queue.channels.compactMap { channel in
            byChannel[channel]?[queue.device].map { ChannelSubscription(channel: channel, token: $0.token) }
        }
        remove(queue)
        return subscriptions
    }

    /// Adds one subscription of a device.
    mutating func add(_ queue: DeviceQueue, _ subscription: ChannelSubscription) {
        byChannel[subscription.channel, default: [:]][queue.device] = Subscriber(
            queue: queue, token: subscription.token)
        queue.channels.insert(subscription.channel)
    }

    /// Removes one subscription of a device.
    mutating func remove(_ queue: DeviceQueue, from channel: ChannelNumber) {
        forget(queue, of: channel)
        queue.channels.remove(channel)
    }

    /// Removes all subscriptions of a device.
    mutating func remove(_ queue: DeviceQueue) {
        for channel in queue.channels { forget(queue, of: channel) }
        queue.channels = []
    }

    /// Removes all subscriptions to a channel.
    mutating func remove(_ channel: ChannelNumber) {
        for subscriber in (byChannel.removeValue(forKey: channel) ?? [:]).values {
            subscriber.queue.channels.remove(channel)
        }
    }

    private mutating func forget(_ queue: DeviceQueue, of channel: ChannelNumber) {
        byChannel[channel]?[queue.device] = nil
        if byChannel[channel]?.isEmpty == true { byChannel[channel] = nil }
    }
}
