// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushNet
internal import PushStore

/// The writes of a node to a shard in the last minute, from samples of its histograms.
struct RecentWrites {
    /// The number of notifications, and the time of their batches.
    struct Rate: Equatable {
        var rowsPerMinute: Int
        var p50Milliseconds: Int64?
        var p99Milliseconds: Int64?
    }

    private struct Sample {
        var at: MonotonicTime
        var commits = DurationHistogram.Snapshot()
        var rowCount: Int64 = 0
    }

    private static let minuteMilliseconds: Int64 = 60_000
    private static let pauseMilliseconds: Int64 = 10_000

    /// The samples from the oldest, which is at least a minute old once there are enough.
    private var samples: [Sample]

    /// Begins with histograms that are empty.
    init(since moment: MonotonicTime) { samples = [Sample(at: moment)] }

    /// Takes a sample every ten seconds.
    mutating func note(_ shard: ShardMetrics, at moment: MonotonicTime) {
        guard let last = samples.last, moment.milliseconds(since: last.at) >= Self.pauseMilliseconds else { return }
        samples.append(Self.sample(of: shard, at: moment))
        while samples.count > 2, moment.milliseconds(since: samples[1].at) >= Self.minuteMilliseconds {
            samples.removeFirst()
        }
    }

    /// Returns the writes since the oldest sample; those of a longer time are converted to a minute.
    func rate(_ shard: ShardMetrics, at moment: MonotonicTime) -> Rate {
        var now = Self.sample(of: shard, at: moment)
        guard let oldest = samples.first else { return Rate(rowsPerMinute: 0) }
        now.commits.subtract(oldest.commits)
        let elapsed = max(moment.milliseconds(since: oldest.at), Self.minuteMilliseconds)
        return Rate(
            rowsPerMinute: Int((now.rowCount - oldest.rowCount) * Self.minuteMilliseconds / elapsed),
            p50Milliseconds: Self.milliseconds(now.commits.quantileNanoseconds(0.5)),
            p99Milliseconds: Self.milliseconds(now.commits.quantileNanoseconds(0.99)))
    }

    private static func sample(of shard: ShardMetrics, at moment: MonotonicTime) -> Sample {
        var sample = Sample(at: moment, rowCount: shard.batchRows.sum)
        sample.commits.add(shard.commit)
        return sample
    }

    /// Rounds up, so that a short time is not 0.
    private static func milliseconds(_ nanoseconds: Int64?) -> Int64? {
        nanoseconds.map { ($0 + 999_999) / 1_000_000 }
    }
}

extension ClusterAPI.Shard {
    mutating func set(_ rate: RecentWrites.Rate) {
        writtenPerMinute = rate.rowsPerMinute
        commitP50Milliseconds = rate.p50Milliseconds
        commitP99Milliseconds = rate.p99Milliseconds
    }
}
