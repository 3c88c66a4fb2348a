// SPDX-License-Identifier: Apache-2.0

@testable import PushNet
import Testing

@Suite struct CountHistogramTests {
    @Test(arguments: CountHistogram.bounds.indices)
    func `a group at a bound is in its bucket, and a larger one is in the next`(bucket: Int) {
        let histogram = CountHistogram()
        let bound = Int(CountHistogram.bounds[bucket])
        histogram.observe(bound)
        histogram.observe(bound + 1)
        var counts = [Int64](repeating: 0, count: CountHistogram.bounds.count + 1)
        (counts[bucket], counts[bucket + 1]) = (1, 1)
        // The bounds 1 and 2 follow each other, so 2 is at the next bound.
        #expect(histogram.counts == counts && histogram.sum == Int64(2 * bound + 1))
    }
}
