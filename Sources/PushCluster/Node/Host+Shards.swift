// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

extension Host {
    // MARK: Saving power

    /// Sets whether a device saves power.
    func setSaving(_ isSaving: Bool, of device: DeviceID) {
        guard let stream = streams[device] else { return }
        stream.isSaving = isSaving
        guard !isSaving, stream.heldBackUntil != nil else { return }
        stream.heldBackUntil = nil
        mark(stream)
    }

    /// Holds non-urgent notifications back from a device that saves power; an urgent one releases them.
    func holdBack(_ notification: Notification, _ stream: HostedStream) {
        if stream.isSaving, notification.allowsDelay {
            guard stream.heldBackUntil == nil else { return }
            let end = context.moment.advanced(byMilliseconds: context.configuration.powerSavingDelayMilliseconds)
            stream.heldBackUntil = end
            heldBack.append((stream, end))
        } else if stream.heldBackUntil != nil {
            stream.heldBackUntil = nil
            mark(stream)
        }
    }

    // MARK: The shard

    /// Registers streams again whose rows in `hosts` may be lost with the connection to their shard.
    ///
    /// A row lasts that was answered before the last answered heartbeat was sent, because a heartbeat is committed on a
    /// standby.
    func connectionLost(to queue: ShardQueue) {
        let safe = queue.lease.renewedAt ?? .past
        for device in devices where shard(device) === queue {
            guard let stream = streams[device] else { continue }
            if let attached = stream.attachedAt, attached < safe {
                guard stream.isReadingRequested else { continue }
                stream.isReadingRequested = false
                stream.isMarked = true
                readOn(stream)
            } else {
                register(stream)
            }
        }
    }

    /// Registers and reads for the streams of a refused batch again.
    func askAgain(_ refused: GatheredBatch) {
        let attached = Set(refused.attachments.map(ObjectIdentifier.init))
        for stream in refused.attachments where isCurrent(stream) { register(stream) }
        for (stream, _) in refused.readings where isCurrent(stream) && !attached.contains(ObjectIdentifier(stream)) {
            stream.isReadingRequested = false
            stream.isMarked = true
            readOn(stream)
        }
    }

    /// Registers all streams of a shard again, because the lease was over and other nodes may have written rows.
    func leaseEnded(of queue: ShardQueue) {
        queue.leaseEnded()
        for device in devices where shard(device) === queue {
            guard let stream = streams[device] else { continue }
            register(stream)
        }
    }
}
