// SPDX-License-Identifier: Apache-2.0

/// The slots of a loop's strangers, ordered by the time without progress, longest first.
///
/// A doubly linked list in two arrays, so that every operation takes constant time and connections store nothing for
/// it.
struct StrangerQueue {
    private static let none = UInt32.max
    private static let absent = UInt32.max - 1

    /// The neighbors of each slot; `none` at an end, `absent` in `previous` if the slot is not in the list.
    private var previous: [UInt32] = []
    private var next: [UInt32] = []
    private var head = none
    private var tail = none
    private(set) var count = 0

    /// The slot that was appended first.
    var first: UInt32? { head == Self.none ? nil : head }

    func contains(_ slot: UInt32) -> Bool { slot < previous.count && previous[Int(slot)] != Self.absent }

    /// Appends a slot; a slot in the list moves to the end.
    mutating func append(_ slot: UInt32) {
        remove(slot)
        while previous.count <= slot {
            previous.append(Self.absent)
            next.append(Self.none)
        }
        previous[Int(slot)] = tail
        next[Int(slot)] = Self.none
        if tail == Self.none { head = slot } else { next[Int(tail)] = slot }
        tail = slot
        count += 1
    }

    /// Removes a slot; does nothing if it is not in the list.
    mutating func remove(_ slot: UInt32) {
        guard contains(slot) else { return }
        let (before, behind) = (previous[Int(slot)], next[Int(slot)])
        if before == Self.none { head = behind } else { next[Int(before)] = behind }
        if behind == Self.none { tail = before } else { previous[Int(behind)] = before }
        previous[Int(slot)] = Self.absent
        count -= 1
    }

    /// Returns the slot after another one, which must be in the list.
    func slot(after slot: UInt32) -> UInt32? {
        let behind = next[Int(slot)]
        return behind == Self.none ? nil : behind
    }
}
