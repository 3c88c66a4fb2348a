// SPDX-License-Identifier: Apache-2.0

/// The counts of a histogram, and the sum of its values; one thread writes them, and any thread reads them.
///
/// An observation takes no lock and no memory. A search from the lowest bound is fast, because most values are small.
struct HistogramBuckets: Sendable {
    /// The upper bounds of all buckets but the last.
    private let bounds: [Int64]
    /// The counts of the buckets, then the sum.
    private let cells: MetricCells

    init(bounds: [Int64]) {
        self.bounds = bounds
        cells = MetricCells(count: bounds.count + 2)
    }

    /// Counts a value; a negative one counts as zero.
    func observe(_ value: Int64) {
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        cells.add(to: bucket)
        cells.add(max(0, value), to: bounds.count + 1)
    }

    /// Returns the count of a bucket; the last one is for values above all bounds.
    subscript(bucket: Int) -> Int64 { cells[bucket] }

    var sum: Int64 { cells[bounds.count + 1] }
}
