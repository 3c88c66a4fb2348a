// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The subscriptions that hosts hold, and the broadcasts on their way to hosts.
///
/// A host may give a queue back before it has received a broadcast. It names the last one that it has delivered, so
/// the store itself delivers those that the device has missed.
struct HostedSubscribers {
    /// The broadcasts of one host.
    private struct Sending {
        var lastNumber = 0
        /// The broadcasts that the host has not confirmed, in order.
        var unconfirmed = FIFOQueue<HostBroadcast>()
    }

    /// The number of hosted subscribers of each channel by the loop of the host.
    private var counts: [ChannelNumber: [UInt32: Int]] = [:]
    private var sendings: [UInt32: Sending] = [:]

    /// Adds the subscriptions of a queue that is handed over.
    mutating func add(_ subscriptions: [ChannelSubscription], on host: UInt32) {
        for subscription in subscriptions { counts[subscription.channel, default: [:]][host, default: 0] += 1 }
    }

    /// Removes the subscriptions of a queue that came back.
    mutating func remove(_ subscriptions: [ChannelSubscription], on host: UInt32) {
        for subscription in subscriptions {
            let channel = subscription.channel
            counts[channel]?[host, default: 0] -= 1
            if counts[channel]?[host] == 0 { counts[channel]?[host] = nil }
            if counts[channel]?.isEmpty == true { counts[channel] = nil }
        }
    }

    /// Numbers a broadcast for the hosts that hold subscribers of its channel.
    ///
    /// - Parameters:
    ///   - pending: The broadcast.
    ///   - channel: The channel.
    ///   - isStored: Whether the channel stores the broadcast.
    /// - Returns: The broadcast for each of these hosts, by its loop.
    mutating func number(
        _ pending: PendingNotification, of channel: ChannelNumber, isStored: Bool
    ) -> [(broadcast: HostBroadcast, host: UInt32)] {
        (counts[channel] ?? [:]).keys.sorted().map { host in
            var sending = sendings[host] ?? Sending()
            sending.lastNumber += 1
            let broadcast = HostBroadcast(
                number: sending.lastNumber, pending: pending, channel: channel, isStored: isStored)
            sending.unconfirmed.append(broadcast)
            sendings[host] = sending
            return (broadcast, host)
        }
    }

    /// Forgets the next broadcast of a host, which has delivered it; returns it.
    mutating func confirm(_ number: Int, by host: UInt32) -> HostBroadcast? {
        guard let first = sendings[host]?.unconfirmed.first, first.number == number else { return nil }
        return sendings[host]?.unconfirmed.popFirst()
    }

    /// Returns the broadcasts that a device has missed, with their subscriptions.
    ///
    /// - Parameters:
    ///   - subscriptions: The device's subscriptions.
    ///   - number: The last broadcast that the host delivered before it gave the queue back.
    ///   - host: The loop of the host.
    /// - Returns: The missed broadcasts, in order.
    func missed(
        by subscriptions: [ChannelSubscription], after number: Int, on host: UInt32
    ) -> [(broadcast: HostBroadcast, subscription: ChannelSubscription)] {
        guard !subscriptions.isEmpty, let sending = sendings[host], sending.lastNumber > number else { return [] }
        return sending.unconfirmed.all().filter { $0.number > number }.flatMap { broadcast in
            subscriptions.filter { $0.channel == broadcast.channel }.map { (broadcast, $0) }
        }
    }
}
