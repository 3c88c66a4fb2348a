// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The clock of PostgreSQL, from which the node makes numbers.
extension NodeContext {
    /// The time by which this machine's clock is ahead of PostgreSQL's, in milliseconds; nil before an answer.
    var clockDifferenceMilliseconds: Int64? {
        guard ids.clock.isKnown else { return nil }
        return now.unixMilliseconds - ids.clock.latest(at: moment) / 1_000
    }

    /// The time by which the numbers of notifications are ahead of PostgreSQL's clock, in milliseconds.
    var numbersAheadMilliseconds: Int64 { ids.clock.isKnown ? ids.aheadMilliseconds(at: moment) : 0 }

    /// Whether the node makes numbers for new notifications and streams.
    ///
    /// Numbers from a wrong clock would delay answers until the right clock has passed them. If numbers are ahead of the
    /// clock, the node must have read the ceilings of the other nodes recently.
    var makesNumbers: Bool {
        ids.clock.isKnown && !isClockWrong && (!areNumbersAhead || ceilingLease.isValid(at: moment))
    }

    /// Whether numbers are so far ahead of PostgreSQL's clock that answers wait for heartbeats of all nodes.
    var areNumbersAhead: Bool { numbersAheadMilliseconds > NotificationIDs.aheadMilliseconds }

    /// Returns the ceiling that a heartbeat records: a number above all that the node has made.
    ///
    /// If numbers follow the clock, the ceiling is also above those of the next three seconds.
    func idCeiling() -> Int64 {
        ids.ceiling(at: moment, aheadMilliseconds: isClockWrong ? nil : configuration.leaseMilliseconds)
    }

    /// Notes whether the clocks of the machine and of PostgreSQL differ too much to accept or deliver anything.
    func judgeClock() {
        let difference = clockDifferenceMilliseconds ?? 0
        isClockWrong = difference.magnitude > configuration.clockDifferenceMillisecondsMax.magnitude
    }

    /// Takes the time and the nodes from the answer to a heartbeat of shard 0.
    ///
    /// - Parameters:
    ///   - heartbeat: The answer.
    ///   - batch: The batch of the heartbeat.
    func take(_ heartbeat: ShardResult.Heartbeat, of batch: GatheredBatch) {
        ids.add(heartbeat.time, asked: batch.sentAt, answered: moment, isTrusted: !isClockWrong)
        judgeClock()
        setNodes(heartbeat.nodes)
        guard !isClockWrong else { return }
        ids.follow(heartbeat.nodes.map(\.idCeiling), own: batch.batch.heartbeat?.idCeiling ?? 0, at: moment)
        ceilingLease.renew(sentAt: batch.sentAt)
    }
}
