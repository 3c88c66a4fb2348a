// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A table of numbers that one thread writes and any thread reads; see `MetricCell`.
///
/// A reader sees each number whole, but two numbers that it reads one after the other may be of different moments.
// Safety: the memory holds only atomics, and the pointer never changes.
@safe package final class MetricCells: @unchecked Sendable {
    /// The size of a cache line, which the numbers share with nothing that another thread writes.
    private static let lineByteCount = 64

    package let count: Int
    private let cells: UnsafeMutablePointer<Atomic<Int64>>

    /// Creates a table of zeros.
    package init(count: Int) {
        self.count = count
        let byteCount = max(1, count) * MemoryLayout<Atomic<Int64>>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: (byteCount + Self.lineByteCount - 1) & ~(Self.lineByteCount - 1), alignment: Self.lineByteCount)
        unsafe cells = memory.bindMemory(to: Atomic<Int64>.self, capacity: count)
        for index in 0..<count { unsafe (cells + index).initialize(to: Atomic(0)) }
    }

    // An atomic integer needs no deinitialization.
    deinit { unsafe UnsafeMutableRawPointer(cells).deallocate() }

    package subscript(index: Int) -> Int64 {
        check(index)
        return unsafe cells[index].load(ordering: .relaxed)
    }

    /// Adds to a number, on the thread that writes it.
    package func add(_ change: Int64 = 1, to index: Int) {
        check(index)
        unsafe cells[index].store(cells[index].load(ordering: .relaxed) &+ change, ordering: .relaxed)
    }

    /// Replaces a number, on the thread that writes it.
    package func set(_ value: Int64, at index: Int) {
        check(index)
        unsafe cells[index].store(value, ordering: .relaxed)
    }

    private func check(_ index: Int) {
        precondition(index >= 0 && index < count, "a table of metrics has no number with this index")
    }
}
