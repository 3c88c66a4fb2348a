// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore

@testable import PushCluster

/// The tables `broadcasts` and `subscriptions` of a simulation, in which all devices subscribe to all channels.
struct SimulatedChannels {
    struct Subscription: Hashable {
        var device: DeviceID
        var channel: ChannelNumber
    }

    /// The broadcast that each channel stores.
    var stored: [ChannelNumber: PublishedBroadcast] = [:]
    /// The number up to which a device needs no broadcasts of a channel.
    var since: [Subscription: Int64] = [:]
}

extension SimulatedShard {
    /// Stores a broadcast, unless its channel has a later one; commits synchronously.
    ///
    /// - Parameter broadcast: The broadcast.
    /// - Returns: The broadcast, which is not stored if a later one is.
    func publish(_ broadcast: PublishedBroadcast) -> PublishedBroadcast {
        guard broadcast.isStored else { return broadcast }
        if let other = channels.stored[broadcast.channel], other.pending.sequence > broadcast.pending.sequence {
            return PublishedBroadcast(broadcast.pending, of: broadcast.channel, isStored: false)
        }
        channels.stored[broadcast.channel] = broadcast
        commit()
        return broadcast
    }

    /// Returns the stored broadcasts from a number on, in order.
    func storedBroadcasts(from first: Int64) -> [PublishedBroadcast] {
        channels.stored.values.filter { $0.pending.sequence >= first }
            .sorted { $0.pending.sequence < $1.pending.sequence }
    }

    /// Records the broadcasts that devices have acknowledged; a fail-over may lose it.
    func skip(_ skips: [ShardBatch.Skip]) {
        for skip in skips {
            let subscription = SimulatedChannels.Subscription(device: skip.device, channel: skip.channel)
            let before = channels.since[subscription] ?? 0
            guard before < skip.number else { continue }
            channels.since[subscription] = skip.number
            keepWayBack { [unowned self] in channels.since[subscription] = before }
        }
    }

    func subscriptions(of device: DeviceID) -> [ShardResult.Subscription] {
        let token = DeviceTokenContents(device: device, topic: TopicID(rawValue: 1), generation: 1)
        let numbers = Set(simulation.publishers.map(\.channel)).sorted { $0.rawValue < $1.rawValue }
        return numbers.map { channel in
            ShardResult.Subscription(
                channel: channel, token: token, since: channels.since[.init(device: device, channel: channel)] ?? 0)
        }
    }
}
