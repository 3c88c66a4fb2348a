// SPDX-License-Identifier: Apache-2.0

/// Counts durations in buckets with fixed bounds; one thread writes it, and any thread reads it.
///
/// ```
/// nanoseconds ──▶ the first bucket whose bound is not lower: count + 1      and: sum + nanoseconds
///                 0.5 ms │ 1 ms │ 2.5 ms │ … │ 60 s │ longer
/// ```
package final class DurationHistogram: Sendable {
    /// The bounds of all buckets but the last, in nanoseconds.
    package static let boundsNanoseconds: [Int64] = [
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 30_000_000_000, 60_000_000_000,
    ]

    /// The counts of one or several histograms.
    package struct Snapshot: Equatable, Sendable {
        /// The number of durations in each bucket; the last one is for those above all bounds.
        package private(set) var counts = [Int64](repeating: 0, count: DurationHistogram.boundsNanoseconds.count + 1)
        package private(set) var sumNanoseconds: Int64 = 0

        package init() {}

        /// Adds the counts of a histogram.
        package mutating func add(_ histogram: DurationHistogram) {
            for bucket in counts.indices { counts[bucket] += histogram.buckets[bucket] }
            sumNanoseconds += histogram.buckets.sum
        }

        /// Removes the counts of an earlier snapshot of the same histograms.
        package mutating func subtract(_ earlier: Snapshot) {
            for bucket in counts.indices { counts[bucket] -= earlier.counts[bucket] }
            sumNanoseconds -= earlier.sumNanoseconds
        }

        /// Estimates a quantile, as Prometheus does: evenly distributed within its bucket.
        ///
        /// - Parameter share: The share of the durations that are at most as long, from 0 to 1.
        /// - Returns: The duration, at most the highest bound; nil without durations.
        package func quantileNanoseconds(_ share: Double) -> Int64? {
            let total = counts.reduce(0, +)
            guard total > 0 else { return nil }
            let rank = share * Double(total)
            var lowerCount: Int64 = 0
            for (bucket, bound) in DurationHistogram.boundsNanoseconds.enumerated() {
                let count = counts[bucket]
                if count > 0, Double(lowerCount + count) >= rank {
                    let lower = bucket == 0 ? 0 : DurationHistogram.boundsNanoseconds[bucket - 1]
                    return lower + Int64(Double(bound - lower) * max(rank - Double(lowerCount), 0) / Double(count))
                }
                lowerCount += count
            }
            return DurationHistogram.boundsNanoseconds.last
        }
    }

    private let buckets = HistogramBuckets(bounds: DurationHistogram.boundsNanoseconds)

    package init() {}

    /// Counts a duration, on the thread that writes the histogram.
    ///
    /// - Parameter nanoseconds: The duration; a negative one counts as zero.
    package func observe(nanoseconds: Int64) { buckets.observe(nanoseconds) }
}
