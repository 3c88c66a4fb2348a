// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Broadcasts to connected subscribers.
extension DeliveryState {
    mutating func apply(_ event: StoreEvent.BroadcastEvent) {
        switch event {
        case .stored(let template, let channel, let answer):
            counters.addPending(of: template.notification.address.topic)
            accept(answer)
            for subscriber in subscribers.subscribers(of: channel) {
                _ = streams.offer(template.addressed(to: subscriber.token), to: subscriber.queue, at: moment)
            }
            _ = sendToHosts(template, of: channel, isStored: true)
        case .nowOrNever(let template, let channel, let answer):
            accept(answer)
            var copyCount = sendToHosts(template, of: channel, isStored: false)
            for subscriber in subscribers.subscribers(of: channel)
            where streams.offerNow(template.addressed(to: subscriber.token), to: subscriber.queue) { copyCount += 1 }
            guard copyCount > 0 else { return counters.addGone(.expired) }
            copies[template.sequence] = copyCount
            counters.addPending(of: template.notification.address.topic)
        case .removed(let removed, let removal):
            counters.removePending(of: removed.topic, removal)
            for subscriber in subscribers.subscribers(of: removed.channel) {
                streams.forget(removed.sequence, of: subscriber.queue)
            }
        case .ended(let sequence, let device):
            if let queue = queues.known(device) { streams.forget(sequence, of: queue) }
        }
    }

    /// Sends a broadcast to the hosts with subscribers; returns their number.
    private mutating func sendToHosts(
        _ template: PendingNotification, of channel: ChannelNumber, isStored: Bool
    ) -> Int {
        let messages = hostedSubscribers.number(template, of: channel, isStored: isStored)
        for (broadcast, host) in messages { replies.add(.broadcast(broadcast), toHostOf: host) }
        return messages.count
    }

    /// Changes the number of copies of a now-or-never broadcast, which expires with its last copy.
    ///
    /// Does nothing after the first acknowledgement.
    mutating func addCopies(_ change: Int, of sequence: Int64, _ topic: TopicID) {
        guard let count = copies[sequence] else { return }
        copies[sequence] = count + change > 0 ? count + change : nil
        if count + change <= 0 { counters.removePending(of: topic, .expired) }
    }
}
