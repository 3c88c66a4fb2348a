// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The parts of requests that concern several shards, for `ShardedRequests`.
extension PostgresRequests {
    /// Returns the device that used an enrolment code with a request ID; nil without such a use.
    func enrolledDevice(_ codeHash: [UInt8], _ requestHash: [UInt8]) throws(SQLError) -> DeviceID? {
        try commit { () throws(SQLError) in
            try tables.enrolmentCodes.device(codeHash, requestHash, now: transaction.now).map(DeviceID.init(stored:))
        }
    }

    /// Lists the devices of this shard after a position.
    func devices(after cursor: DeviceTable.ListCursor?, countMax: Int) throws(SQLError) -> Answer {
        try run({ _ in }) { () throws(SQLError) in executor.devices.list(after: cursor, countMax: countMax) }
    }

    /// Removes from this shard what removed apps and channels left.
    func remove(
        apps: [TopicID], channels: [ChannelNumber], committed: (PostgresEffects) -> Void
    ) throws(SQLError) {
        guard let leftovers else { return }
        for app in apps {
            while try !commit(committed, { () throws(SQLError) in try leftovers.removeSome(of: app) }) {}
        }
        for channel in channels {
            while try !commit(committed, { () throws(SQLError) in try leftovers.removeSome(of: channel) }) {}
        }
    }
}
