// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The queues that hosts hold, and the notifications that they deliver.
extension DeliveryState {
    // MARK: Queues

    /// Hands the queue of a device to the host of its stream; returns false if it must stay here.
    mutating func handOver(_ queue: DeviceQueue, _ stream: DeviceStream) -> Bool {
        // Otherwise a device could make the store move many subscriptions again and again.
        guard queue.channels.count <= WriterLimits.handedSubscriptionCountMax else { return false }
        let held = stream.held(queue.registrations, pendingCount: queue.pendingCount) { sequence in
            queue.recent.entry(sequence)?.collapse
        }
        guard var held else { return false }
        held.subscriptions = subscribers.take(queue)
        hostedSubscribers.add(held)
        replies.add(.handed(held), toHostOf: held.stream.loop)
        return true
    }

    /// Takes the subscriptions of a returned queue back, and delivers the broadcasts that the device missed.
    ///
    /// - Parameters:
    ///   - held: The returned queue.
    ///   - queue: The record of its device.
    ///   - number: The last broadcast that the host delivered before it returned the queue.
    mutating func takeBackSubscriptions(_ held: HeldQueue, to queue: DeviceQueue, broadcast number: Int) {
        hostedSubscribers.remove(held)
        guard queue.stream?.address == held.stream else { return }
        subscribers.set(queue, held.subscriptions)
        for (broadcast, subscription) in hostedSubscribers.missed(
            by: held.subscriptions, after: number, on: held.stream.loop)
        {
            let pending = broadcast.pending.addressed(to: subscription.token)
            if broadcast.isStored {
                streams.sendMissed(pending, to: queue)
            } else if streams.offerNow(pending, to: queue) {
                addCopies(1, of: pending.sequence, pending.notification.address.topic)
            }
        }
    }

    // MARK: Notifications

    /// Counts a notification that a host delivered and its device acknowledged.
    mutating func noteDeliveredByHost() {
        counters.addAccepted()
        counters.addGone(.acknowledged)
    }

    /// Counts a notification that a host accepted and did not send.
    mutating func noteNotSentByHost(_ reason: RemovalReason) {
        counters.addAccepted()
        counters.addGone(reason)
    }

    /// Counts a now-or-never notification that a host sent.
    mutating func noteSentNowByHost(_ topic: TopicID) {
        counters.addAccepted()
        counters.addPending(of: topic)
    }

    /// Counts the copies of a broadcast that a host sent.
    mutating func noteSentByHost(_ broadcast: HostBroadcast, copyCount: Int) {
        guard !broadcast.isStored else { return }
        addCopies(copyCount, of: broadcast.pending.sequence, broadcast.pending.notification.address.topic)
    }

    /// Records that a host has delivered a broadcast to its subscribers.
    mutating func confirm(_ number: Int, by host: UInt32) {
        guard let broadcast = hostedSubscribers.confirm(number, by: host), !broadcast.isStored else { return }
        addCopies(-1, of: broadcast.pending.sequence, broadcast.pending.notification.address.topic)
    }
}
