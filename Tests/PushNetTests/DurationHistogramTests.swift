// SPDX-License-Identifier: Apache-2.0

@testable import PushNet
import Testing

@Suite struct DurationHistogramTests {
    private static let bounds = DurationHistogram.boundsNanoseconds

    private static func snapshot(of nanoseconds: [Int64]) -> DurationHistogram.Snapshot {
        let histogram = DurationHistogram()
        for nanoseconds in nanoseconds { histogram.observe(nanoseconds: nanoseconds) }
        var snapshot = DurationHistogram.Snapshot()
        snapshot.add(histogram)
        return snapshot
    }

    @Test func `the bounds ascend`() {
        #expect(zip(Self.bounds, Self.bounds.dropFirst()).allSatisfy { $0 < $1 } && Self.bounds[0] > 0)
    }

    @Test(arguments: bounds.indices)
    func `a duration at a bound is in its bucket, and a longer one is in the next`(bucket: Int) {
        var counts = [Int64](repeating: 0, count: Self.bounds.count + 1)
        counts[bucket] = 1
        #expect(Self.snapshot(of: [Self.bounds[bucket]]).counts == counts)
        counts[bucket] = 0
        counts[bucket + 1] = 1
        #expect(Self.snapshot(of: [Self.bounds[bucket] + 1]).counts == counts)
    }

    @Test func `a negative duration counts as zero`() {
        let snapshot = Self.snapshot(of: [-5, 0, 1])
        #expect(snapshot.counts[0] == 3 && snapshot.sumNanoseconds == 1)
    }

    @Test func `a quantile lies in the bucket of its duration, and is at most the highest bound`() {
        #expect(Self.snapshot(of: []).quantileNanoseconds(0.5) == nil)
        let (half, two, long): (Int64, Int64, Int64) = (400_000, 2_000_000, 120_000_000_000)
        let mixed = Self.snapshot(of: [half, half, two, two])
        #expect(mixed.quantileNanoseconds(0.5) == 500_000 && mixed.quantileNanoseconds(0.25) == 250_000)
        #expect(mixed.quantileNanoseconds(0.75) == 1_750_000 && mixed.quantileNanoseconds(1) == 2_500_000)
        #expect(Self.snapshot(of: [two]).quantileNanoseconds(0) == 1_000_000)
        #expect(Self.snapshot(of: [half, long]).quantileNanoseconds(0.99) == Self.bounds.last)
    }

    @Test func `a snapshot without an earlier one has only later durations`() {
        let histogram = DurationHistogram()
        histogram.observe(nanoseconds: 600_000)
        var (earlier, later) = (DurationHistogram.Snapshot(), DurationHistogram.Snapshot())
        earlier.add(histogram)
        histogram.observe(nanoseconds: 2_000_000)
        later.add(histogram)
        later.subtract(earlier)
        #expect(later == Self.snapshot(of: [2_000_000]))
    }

    @Test func `a snapshot adds the counts of several histograms`() {
        let histograms = [DurationHistogram(), DurationHistogram()]
        for histogram in histograms { histogram.observe(nanoseconds: 600_000) }
        var snapshot = DurationHistogram.Snapshot()
        for histogram in histograms { snapshot.add(histogram) }
        #expect(snapshot.counts[1] == 2 && snapshot.counts.reduce(0, +) == 2 && snapshot.sumNanoseconds == 1_200_000)
    }
}
