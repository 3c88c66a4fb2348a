// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

extension Host {
    /// Registers streams again whose rows in `hosts` may be lost with the connection to their shard.
    ///
    /// A row survives if its registration was answered before the node sent the last answered heartbeat, because a
    /// standby has confirmed this heartbeat.
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

    /// Registers the streams of a refused batch again, and requests their readings again.
    func askAgain(_ refused: GatheredBatch) {
        let attached = Set(refused.attachments.map(ObjectIdentifier.init))
        for stream in refused.attachments where isCurrent(stream) { register(stream) }
        for (stream, _) in refused.readings where isCurrent(stream) && !attached.contains(ObjectIdentifier(stream)) {
            stream.isReadingRequested = false
            stream.isMarked = true
            readOn(stream)
        }
    }

    /// Registers all streams of a shard again, or all streams for shard 0.
    ///
    /// Other nodes may have written rows after the lease ended.
    func leaseEnded(of queue: ShardQueue) {
        queue.leaseEnded()
        for device in devices where queue.shard == 0 || shard(device) === queue {
            guard let stream = streams[device] else { continue }
            register(stream)
        }
    }

    /// Reads for the streams whose rows arrived while the node had no lease.
    func leaseBegan(of queue: ShardQueue) {
        for device in devices where queue.shard == 0 || shard(device) === queue {
            guard let stream = streams[device], stream.isMarked, hasLease(stream) else { continue }
            readOn(stream)
        }
    }
}
