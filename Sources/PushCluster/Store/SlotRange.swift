// SPDX-License-Identifier: Apache-2.0

internal import PushStore

/// Neighbouring slots, and the IDs of their devices.
struct SlotRange: Equatable {
    var slots: ClosedRange<Int>

    /// The IDs of the devices.
    var devices: ClosedRange<Int64> {
        Int64(slots.lowerBound) << 53...(Int64(slots.upperBound) << 53 | (1 << 53 - 1))
    }

    /// Returns the ranges that some slots form.
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

    /// Chooses slots to move: always from the shard that has most, and from its end.
    ///
    /// - Parameters:
    ///   - target: The shard that gets the slots.
    ///   - countMax: The maximum number of slots.
    ///   - free: The slots of each shard that can move.
    /// - Returns: The slots.
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
