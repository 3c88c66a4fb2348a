// SPDX-License-Identifier: Apache-2.0

/// What turns one list of keys into another and leaves as many of them as can be where they are.
///
/// What stays is the longest part that is in both lists in the same order; so who reads keeps the place.
package struct ListChange: Equatable, Sendable {
    /// Some keys in the place of others.
    package struct Splice: Equatable, Sendable {
        /// In the list as it is when those before this are done.
        package var position: Int
        /// How many go.
        package var removedCount: Int
        /// What comes.
        package var added: [String]
    }

    /// To be done one after the other; from the end to the beginning, so that none moves the place of another.
    package private(set) var splices: [Splice] = []

    /// Compares two lists, in each of which no key is twice; takes n log n.
    package init(from old: [String], to new: [String]) {
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

    /// The most pairs of which both numbers rise; the second do so already.
    private static func longestRise(_ pairs: [(old: Int, new: Int)]) -> [(old: Int, new: Int)] {
        // For each length, the pair with the lowest number at which a rise of that length ends.
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
