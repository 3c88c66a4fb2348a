// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The broadcasts that channels store, at most one for each channel.
struct StoredBroadcasts {
    private var broadcasts: [ChannelNumber: PublishedBroadcast] = [:]
    private var channels: [Int64: ChannelNumber] = [:]

    /// Adds a broadcast in place of an earlier one of its channel; returns false if it, or a later one, is known.
    mutating func add(_ broadcast: PublishedBroadcast) -> Bool {
        let (channel, number) = (broadcast.channel, broadcast.pending.sequence)
        if let known = broadcasts[channel] {
            guard known.pending.sequence < number else { return false }
            channels[known.pending.sequence] = nil
        }
        broadcasts[channel] = broadcast
        channels[number] = channel
        return true
    }

    /// Returns the broadcast that a channel stores; nil without one, and after its expiry.
    func broadcast(of channel: ChannelNumber, now: Timestamp) -> PublishedBroadcast? {
        broadcasts[channel].flatMap { $0.isExpired(now: now) ? nil : $0 }
    }

    /// Returns the channel that stores the broadcast with a number.
    func channel(of number: Int64) -> ChannelNumber? { channels[number] }

    /// Removes expired broadcasts.
    mutating func removeExpired(now: Timestamp) {
        for (channel, broadcast) in broadcasts where broadcast.isExpired(now: now) {
            broadcasts[channel] = nil
            channels[broadcast.pending.sequence] = nil
        }
    }
}
