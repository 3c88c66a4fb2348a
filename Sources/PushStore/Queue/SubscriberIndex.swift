// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// An index of the connected devices' channel subscriptions.
///
/// A stream that opens adds its subscriptions, and committed events update them. So a broadcast finds its connected
/// subscribers without a query.
struct SubscriberIndex {
    /// A connected device that subscribes to a channel.
    struct Subscriber {
        var card: DeviceQueue
        /// The registration that receives the broadcasts.
        var token: DeviceTokenContents
    }

    private var byChannel: [ChannelNumber: [DeviceID: Subscriber]] = [:]

    /// Returns the devices that receive a broadcast of a channel now.
    func subscribers(of channel: ChannelNumber) -> some Collection<Subscriber> { (byChannel[channel] ?? [:]).values }

    /// Replaces the subscriptions of a device.
    mutating func set(_ card: DeviceQueue, _ all: [SubscriptionTable.Listener]) {
        remove(card)
        for listener in all { add(card, listener) }
    }

    /// Adds one subscription of a device.
    mutating func add(_ card: DeviceQueue, _ listener: SubscriptionTable.Listener) {
        byChannel[listener.channel, default: [:]][card.device] = Subscriber(card: card, token: listener.token)
        card.channels.insert(listener.channel)
    }

    /// Removes one subscription of a device.
    mutating func remove(_ card: DeviceQueue, from channel: ChannelNumber) {
        forget(card, of: channel)
        card.channels.remove(channel)
    }

    /// Removes all subscriptions of a device.
    mutating func remove(_ card: DeviceQueue) {
        for channel in card.channels { forget(card, of: channel) }
        card.channels = []
    }

    /// Removes all subscriptions to a channel.
    mutating func remove(_ channel: ChannelNumber) {
        for subscriber in (byChannel.removeValue(forKey: channel) ?? [:]).values {
            subscriber.card.channels.remove(channel)
        }
    }

    private mutating func forget(_ card: DeviceQueue, of channel: ChannelNumber) {
        byChannel[channel]?[card.device] = nil
        if byChannel[channel]?.isEmpty == true { byChannel[channel] = nil }
    }
}
