// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Broadcasts to connected subscribers.
///
/// A broadcast keeps its number on every stream, so that a device recognizes a copy that it has received before.
extension Host {
    /// Delivers a broadcast to the connected subscribers of its channel.
    func deliver(_ broadcast: PublishedBroadcast) {
        if broadcast.isStored, !stored.add(broadcast) { return }
        for device in subscribers.devices(of: broadcast.channel) {
            guard let stream = streams[device], stream.add(broadcast) else { continue }
            powerSaving.holdBack(broadcast.pending.notification, stream)
            readOn(stream)
            sendBroadcasts(stream)
        }
    }

    /// Takes the subscriptions of a device that were read, and adds the stored broadcasts that it has not received.
    func takeSubscriptions(of stream: HostedStream) {
        subscribers.set(stream.account.subscriptions.map(\.channel), of: stream.device)
        stream.setStored(
            stream.account.subscriptions.compactMap { stored.broadcast(of: $0.channel, now: context.now) })
    }

    /// Sends the broadcasts that wait for a stream, once everything before them is sent.
    func sendBroadcasts(_ stream: HostedStream) {
        while stream.isOpen, !stream.isMarked, !stream.needsAccount, hasLease(stream),
            let broadcast = stream.nextBroadcast()
        {
            guard let subscription = stream.subscription(to: broadcast), !broadcast.isOver(now: context.now) else {
                continue
            }
            let (pending, channel) = (broadcast.pending, broadcast.channel)
            send(
                pending.addressed(to: subscription.token), RowKey(rawValue: pending.sequence),
                .broadcast(channel, isStored: broadcast.isStored), on: stream)
        }
    }

    /// Records that a device has acknowledged a broadcast if a channel stores it; returns whether one does.
    @discardableResult func skipBroadcast(_ number: Int64, by device: DeviceID) -> Bool {
        guard let channel = stored.channel(of: number) else { return false }
        noteReceived(number, of: channel, by: device)
        return true
    }

    /// Records that a device has acknowledged the stored broadcast of a channel.
    func noteReceived(_ number: Int64, of channel: ChannelNumber, by device: DeviceID) {
        streams[device]?.noteReceived(number, of: channel)
        shard(device).skip(.init(device: device, channel: channel, number: number))
    }
}

extension PublishedBroadcast {
    /// Returns whether the channel stored the broadcast, and it has expired.
    fileprivate func isOver(now: Timestamp) -> Bool { isStored && isExpired(now: now) }
}
