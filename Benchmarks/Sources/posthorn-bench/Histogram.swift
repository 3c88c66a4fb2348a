// SPDX-License-Identifier: Apache-2.0

/// A histogram of durations with buckets that are at most 3 % wide.
struct Histogram {
    private static let subBucketBits = 5
    private var counts = [Int](repeating: 0, count: 64 << subBucketBits)
    private(set) var count = 0
    private var largest = 0

    mutating func add(_ nanoseconds: Int) {
        let value = UInt64(max(nanoseconds, 1))
        let exponent = 63 - value.leadingZeroBitCount
        let shift = max(exponent - Self.subBucketBits, 0)
        let index =
            exponent < Self.subBucketBits
            ? Int(value)
            : (shift + 1) << Self.subBucketBits | Int(value >> UInt64(shift)) & (1 << Self.subBucketBits - 1)
        counts[index] += 1
        count += 1
        largest = max(largest, nanoseconds)
    }

    /// Returns the duration in microseconds that the given share of all durations does not exceed.
    func microseconds(at share: Double) -> Double {
        var remaining = max(1, Int((Double(count) * share).rounded(.up)))
        for (index, number) in counts.enumerated() where number > 0 {
            remaining -= number
            if remaining <= 0 { return Double(Self.upperEnd(of: index)) / 1000 }
        }
        return 0
    }

    private static func upperEnd(of index: Int) -> Int {
        let shift = index >> subBucketBits - 1
        guard shift >= 0 else { return index }
        return ((index & (1 << subBucketBits - 1) | 1 << subBucketBits) + 1) << shift
    }

    /// The quantiles as a JSON object: `{"p50_us": …}`.
    var json: String {
        let shares = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)]
        let members = shares.map { "\"\($0.0)_us\":\(count == 0 ? "null" : String(microseconds(at: $0.1)))" }
        return "{\(members.joined(separator: ",")),\"max_us\":\(Double(largest) / 1000),\"count\":\(count)}"
    }
}
