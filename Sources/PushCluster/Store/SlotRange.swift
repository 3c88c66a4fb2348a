// SPDX-License-Identifier: Apache-2.0

internal import PushStore

/// A range of consecutive slots, and the IDs of their devices.
struct SlotRange: Equatable {
    var slots: ClosedRange<Int>

    /// The range of the IDs of their devices.
    var devices: ClosedRange<Int64> {
        Int64(slots.lowerBound) << 53...(Int64(slots.upperBound) << 53 | (1 << 53 - 1))
    }

    /// Groups slots into ranges of consecutive slots.
    static func ranges(of slots: some Sequence<Int>) -> [SlotRange] {
        var ranges: [SlotRange] = []
        for slot in slots.sorted() {
            if let last = ranges.last, last.slots.upperBound + 1 == slot {
                ranges[ranges.count - 1].slots = last.slots.lowerBound...slot
            } else {
                ranges.append(SlotRange(slots: slot...slot))
            }
        }
        return ranges
    }

    /// Chooses slots to move: each from the shard that has most slots left, beginning with its highest slot.
    ///
    /// - Parameters:
    ///   - target: The shard that gets the slots.
    ///   - countMax: The maximum number of slots.
    ///   - free: The slots of each shard that can move.
    /// - Returns: The chosen slots.
    static func choose(for target: Int, countMax: Int, from free: [Int: [Int]]) -> [Int] {
        var rest = free.filter { $0.key != target }.mapValues { $0.sorted() }
        var chosen: [Int] = []
        while chosen.count < countMax {
            let largest = rest.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
            guard let largest, let slot = largest.value.last else { break }
            chosen.append(slot)
            rest[largest.key]?.removeLast()
        }
        return chosen
    }
}
