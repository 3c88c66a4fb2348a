// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The parts of requests that concern several shards, for `ShardedRequests`.
extension PostgresRequests {
    /// Returns the device that an earlier attempt of the same request has enrolled; nil if no attempt has.
    func enrolledDevice(_ codeHash: [UInt8], _ requestHash: [UInt8]) throws(SQLError) -> DeviceID? {
        try commit { () throws(SQLError) in
            try tables.enrolmentCodes.device(codeHash, requestHash, now: transaction.now).map(DeviceID.init(stored:))
        }
    }

    /// Lists the devices of this shard after a position in the list.
    func devices(after cursor: DeviceTable.ListCursor?, countMax: Int) throws(SQLError) -> Answer {
        var work: (any LongWork)?
        while true {
            let step = try step(work, { _ in }) { () throws(SQLError) in
                executor.devices.list(after: cursor, countMax: countMax)
            }
            switch step {
            case .answered(let answer): return answer
            case .unfinished(let rest): work = rest
            }
        }
    }

    /// Removes the registrations and subscriptions of removed apps and channels from this shard.
    func remove(
        apps: [TopicID], channels: [ChannelNumber], committed: (PostgresEffects) -> Void
    ) throws(SQLError) {
        for app in apps {
            while try !commit(committed, { () throws(SQLError) in try leftovers.removeSome(of: app) }) {}
        }
        for channel in channels {
            while try !commit(committed, { () throws(SQLError) in try leftovers.removeSome(of: channel) }) {}
        }
    }
}
