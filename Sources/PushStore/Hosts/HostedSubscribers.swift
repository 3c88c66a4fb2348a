// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The subscriptions that hosts hold, and the broadcasts on their way to hosts.
///
/// A host may return a queue before it has received a broadcast. The returned queue names the last broadcast that the
/// host has delivered, so the store itself delivers the broadcasts that the device has missed.
struct HostedSubscribers {
    /// The broadcasts of one host.
    private struct Sending {
        var lastNumber = 0
        /// The broadcasts that the host has not confirmed, in order.
        var unconfirmed = FIFOQueue<HostBroadcast>()
    }

    /// The hosted subscribers of each channel by the loop of the host.
    private var devices: [ChannelNumber: [UInt32: Set<DeviceID>]] = [:]
    private var sendings: [UInt32: Sending] = [:]

    /// Whether a host has too many broadcasts to deliver, so that no others are accepted.
    var isBehind: Bool {
        sendings.values.contains { $0.unconfirmed.count >= WriterLimits.undeliveredBroadcastCountMax }
    }

    /// Returns the subscribers of a channel.
    func subscribers(of channel: ChannelNumber) -> [DeviceID] {
        (devices[channel] ?? [:]).values.flatMap { $0 }.sorted { $0.rawValue < $1.rawValue }
    }

    /// Adds the subscriptions of a queue that is handed over.
    mutating func add(_ held: HeldQueue) {
        for subscription in held.subscriptions {
            devices[subscription.channel, default: [:]][held.stream.loop, default: []].insert(held.device)
        }
    }

    /// Removes the subscriptions of a returned queue.
    mutating func remove(_ held: HeldQueue) {
        let host = held.stream.loop
        for subscription in held.subscriptions {
            let channel = subscription.channel
            devices[channel]?[host]?.remove(held.device)
            if devices[channel]?[host]?.isEmpty == true { devices[channel]?[host] = nil }
            if devices[channel]?.isEmpty == true { devices[channel] = nil }
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
        (devices[channel] ?? [:]).keys.sorted().map { host in
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
    ///   - number: The last broadcast that the host delivered before it returned the queue.
    ///   - host: The loop of the host.
    /// - Returns: The missed broadcasts, in order.
    func missed(
        by subscriptions: [ChannelSubscription], after number: Int, on host: UInt32
    ) -> [(broadcast: HostBroadcast, subscription: ChannelSubscription)] {
        guard !subscriptions.isEmpty, let sending = sendings[host], sending.lastNumber > number else { return [] }
        let subscriptionsByChannel = Dictionary(grouping: subscriptions, by: \.channel)
        return sending.unconfirmed.all().filter { $0.number > number }.flatMap { broadcast in
            (subscriptionsByChannel[broadcast.channel] ?? []).map { (broadcast, $0) }
        }
    }
}
