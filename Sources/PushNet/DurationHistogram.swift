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
    }

    private let buckets = HistogramBuckets(bounds: DurationHistogram.boundsNanoseconds)

    package init() {}

    /// Counts a duration, on the thread that writes the histogram.
    ///
    /// - Parameter nanoseconds: The duration; a negative one counts as zero.
    package func observe(nanoseconds: Int64) { buckets.observe(nanoseconds) }
}
