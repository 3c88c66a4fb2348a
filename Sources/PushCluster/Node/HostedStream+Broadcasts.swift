// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

extension HostedStream {
    /// Returns the subscription by which the device receives a broadcast; nil if it has received or skipped it.
    func subscription(to broadcast: PublishedBroadcast) -> ShardResult.Subscription? {
        account.subscriptions.first {
            $0.channel == broadcast.channel && $0.since < broadcast.pending.sequence
        }
    }

    /// Adds a broadcast to those that wait; returns false if too many do.
    func add(_ broadcast: PublishedBroadcast) -> Bool {
        if broadcast.isStored {
            // The device needs only the latest one that its channel stores.
            broadcasts.removeAll { $0.isStored && $0.channel == broadcast.channel }
            removeFromWindow { sent in
                if case .broadcast(broadcast.channel, isStored: true) = sent.state {
                    sent.id < broadcast.pending.sequence
                } else {
                    false
                }
            }
        } else if broadcasts.count >= Limits.unacknowledgedCountMax {
            return false
        }
        broadcasts.append(broadcast)
        return true
    }

    /// Replaces the stored broadcasts that wait.
    func setStored(_ stored: [PublishedBroadcast]) {
        broadcasts.removeAll(where: \.isStored)
        broadcasts += stored.filter { !contains($0.pending.notification.uniqueID) }
        broadcasts.sort { $0.pending.sequence < $1.pending.sequence }
    }

    /// Removes the next broadcast, and returns it.
    func nextBroadcast() -> PublishedBroadcast? { broadcasts.isEmpty ? nil : broadcasts.removeFirst() }

    /// Records that the device has received the stored broadcasts of a channel up to a number.
    func noteReceived(_ number: Int64, of channel: ChannelNumber) {
        for index in account.subscriptions.indices where account.subscriptions[index].channel == channel {
            account.subscriptions[index].since = max(account.subscriptions[index].since, number)
        }
    }
}
