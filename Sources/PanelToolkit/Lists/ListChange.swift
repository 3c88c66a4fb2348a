// SPDX-License-Identifier: Apache-2.0

/// The difference between two lists of keys, as splices that leave as many keys as possible in place.
///
/// The kept keys are the longest common subsequence, so the user's scroll position stays valid.
struct ListChange: Equatable, Sendable {
    /// A replacement of consecutive keys.
    struct Splice: Equatable, Sendable {
        /// The position in the list after the earlier splices were applied.
        var position: Int
        /// The number of keys to remove.
        var removedCount: Int
        /// The keys to insert.
        var added: [String]
    }

    /// The splices in the order of application, from the end of the list to its beginning, so none shifts another.
    private(set) var splices: [Splice] = []

    /// Compares two lists without duplicate keys, in O(n log n).
    init(from old: [String], to new: [String]) {
        let places = Dictionary(zip(old, old.indices), uniquingKeysWith: { first, _ in first })
        let known = new.indices.compactMap { index in places[new[index]].map { (old: $0, new: index) } }
        var (oldEnd, newEnd) = (old.count, new.count)
        for kept in Self.longestRise(known).reversed() + [(old: -1, new: -1)] {
            let (removed, added) = (kept.old + 1..<oldEnd, kept.new + 1..<newEnd)
            if !removed.isEmpty || !added.isEmpty {
                splices.append(
                    Splice(position: kept.old + 1, removedCount: removed.count, added: Array(new[added])))
            }
            (oldEnd, newEnd) = (kept.old, kept.new)
        }
    }

    /// Returns the longest subsequence of pairs in which `old` rises; `new` already rises.
    private static func longestRise(_ pairs: [(old: Int, new: Int)]) -> [(old: Int, new: Int)] {
        // For each length, the index of the pair with the lowest `old` that ends a rising subsequence of that length.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: pairs.count)
        for index in pairs.indices {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].old < pairs[index].old { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var rise: [(old: Int, new: Int)] = []
        var next = ends.last
        while let index = next {
            rise.append(pairs[index])
            next = before[index]
        }
        return rise.reversed()
    }
}
