// SPDX-License-Identifier: Apache-2.0

/// The identifier of a pending timer.
package struct TimerID: Hashable, Sendable {
    /// The index in the loop's table and the generation of that index.
    package let rawValue: UInt64
}

/// The pending timers in a binary heap, without a clock: `schedule` and `cancel` cost O(log n), the next deadline O(1).
///
/// ```
///   heap   [ 3 | 0 | 1 ]        indices into slots, the earliest deadline first; equal ones in order of scheduling
///            │
///   slots  [ … | … | free | {deadline, sequence, heapIndex, action} ]
/// ```
struct TimerQueue {
    private struct Slot {
        var generation: UInt32 = 0
        var deadline = MonotonicTime.past
        var sequence: UInt64 = 0
        var heapIndex = -1
        var action: (() -> Void)?
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private var heap: [UInt32] = []
    /// The number of timers ever scheduled; a timer that is scheduled while timers fire waits for the next turn.
    private(set) var scheduledCount: UInt64 = 0

    /// The number of pending timers.
    var count: Int { heap.count }

    /// The deadline of the earliest timer; nil if no timer is pending.
    var nextDeadline: MonotonicTime? { heap.first.map { slots[Int($0)].deadline } }

    /// Adds a timer.
    mutating func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        let slot = free.popLast() ?? addSlot()
        slots[Int(slot)].deadline = deadline
        slots[Int(slot)].sequence = scheduledCount
        slots[Int(slot)].action = action
        slots[Int(slot)].heapIndex = heap.count
        scheduledCount += 1
        heap.append(slot)
        siftUp(from: heap.count - 1)
        return TimerID(rawValue: UInt64(slots[Int(slot)].generation) << 32 | UInt64(slot))
    }

    /// Removes a timer and returns its action; nil if the timer has fired or was canceled.
    ///
    /// The action must be released only after the queue is consistent again, so it is returned.
    ///
    /// - Parameter timer: The timer to cancel.
    /// - Returns: The action of the timer.
    mutating func cancel(_ timer: TimerID) -> (() -> Void)? {
        let slot = Int(UInt32(truncatingIfNeeded: timer.rawValue))
        guard slot < slots.count, UInt64(slots[slot].generation) == timer.rawValue >> 32,
            slots[slot].heapIndex >= 0
        else { return nil }
        return remove(atHeapIndex: slots[slot].heapIndex)
    }

    /// Removes the earliest timer and returns its action, if it is due and was scheduled before `scheduledCount`
    /// reached `limit`.
    mutating func popDue(at now: MonotonicTime, scheduledBefore limit: UInt64) -> (() -> Void)? {
        guard let first = heap.first, slots[Int(first)].deadline <= now, slots[Int(first)].sequence < limit else {
            return nil
        }
        return remove(atHeapIndex: 0)
    }

    private mutating func addSlot() -> UInt32 {
        slots.append(Slot())
        return UInt32(slots.count - 1)
    }

    private mutating func remove(atHeapIndex index: Int) -> (() -> Void)? {
        let slot = heap[index]
        let last = heap.count - 1
        if index != last { swap(index, last) }
        heap.removeLast()
        if index != last {
            siftDown(from: index)
            siftUp(from: index)
        }
        let action = slots[Int(slot)].action
        slots[Int(slot)].action = nil
        slots[Int(slot)].heapIndex = -1
        slots[Int(slot)].generation &+= 1
        free.append(slot)
        return action
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (Int(heap[left]), Int(heap[right]))
        return (slots[first].deadline, slots[first].sequence) < (slots[second].deadline, slots[second].sequence)
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        slots[Int(heap[left])].heapIndex = left
        slots[Int(heap[right])].heapIndex = right
    }

    private mutating func siftUp(from start: Int) {
        var index = start
        while index > 0, precedes(index, (index - 1) / 2) {
            swap(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(from start: Int) {
        var index = start
        while true {
            let left = 2 * index + 1
            guard left < heap.count else { return }
            let child = left + 1 < heap.count && precedes(left + 1, left) ? left + 1 : left
            guard precedes(child, index) else { return }
            swap(child, index)
            index = child
        }
    }
}
