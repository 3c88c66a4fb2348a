// SPDX-License-Identifier: Apache-2.0

/// Counts the sizes of groups in buckets with fixed bounds; one thread writes it, and any thread reads it.
package final class CountHistogram: Sendable {
    /// The bounds of all buckets but the last.
    package static let bounds: [Int64] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

    private let buckets = HistogramBuckets(bounds: CountHistogram.bounds)

    package init() {}

    /// The number of groups in each bucket; the last one is for those above all bounds.
    package var counts: [Int64] { (0...Self.bounds.count).map { buckets[$0] } }
    /// The number of things in all groups.
    package var sum: Int64 { buckets.sum }

    /// Counts a group of some things, on the thread that writes the histogram.
    package func observe(_ count: Int) { buckets.observe(Int64(count)) }
}
