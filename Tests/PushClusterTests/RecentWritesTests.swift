// SPDX-License-Identifier: Apache-2.0

import PushNet
import PushStore
import Testing

@testable import PushCluster

struct RecentWritesTests {
    private let metrics = ClusterMetrics()

    private var shard: ShardMetrics { metrics.shards[0] }

    private func moment(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000 + 1) }

    private func write(rows: Int, milliseconds: Int64) {
        shard.commit.observe(nanoseconds: milliseconds * 1_000_000)
        shard.batchRows.observe(rows)
    }

    @Test func `writes since the start count, with their times rounded up`() {
        let writes = RecentWrites(since: moment(0))
        #expect(writes.rate(shard, at: moment(0)) == .init(rowsPerMinute: 0))
        write(rows: 3, milliseconds: 0)
        #expect(
            writes.rate(shard, at: moment(5)) == .init(rowsPerMinute: 3, p50Milliseconds: 1, p99Milliseconds: 1))
    }

    @Test func `writes of more than a minute ago do not count`() {
        var writes = RecentWrites(since: moment(0))
        write(rows: 100, milliseconds: 40_000)
        for second in Int64(1)...60 { writes.note(shard, at: moment(second)) }
        #expect(writes.rate(shard, at: moment(60)).rowsPerMinute == 100)
        write(rows: 5, milliseconds: 1)
        for second in Int64(61)...70 { writes.note(shard, at: moment(second)) }
        #expect(
            writes.rate(shard, at: moment(70)) == .init(rowsPerMinute: 5, p50Milliseconds: 1, p99Milliseconds: 1))
    }

    @Test func `after a pause without samples, writes are converted to a minute`() {
        let writes = RecentWrites(since: moment(0))
        write(rows: 100, milliseconds: 1)
        #expect(writes.rate(shard, at: moment(120)).rowsPerMinute == 50)
    }
}
