// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The number of notifications sent in one UTC day, packed into one number so that loops can share it.
///
/// On any other day the count restarts at 0, even on an earlier one. A clock that was ahead must not leave a sender
/// locked out.
struct DayCount: Equatable {
    /// The day, counted since 1970.
    let day: Int64
    let count: Int64

    init(day: Int64, count: Int64) {
        self.day = max(0, day) & Self.dayMax
        self.count = min(max(0, count), Self.countMax)
    }

    /// Returns the count on a day, which is 0 unless it is the stored day.
    func on(_ day: Int64) -> DayCount {
        let today = DayCount(day: day, count: 0)
        return today.day == self.day ? self : today
    }

    /// Returns the count increased by one, or nil if the limit is reached.
    func adding(upTo limit: Int64) -> DayCount? { count < limit ? DayCount(day: day, count: count + 1) : nil }

    // MARK: Packed form

    private static let countBitCount: UInt64 = 40
    private static let countMax = Int64(1) << 40 - 1
    private static let dayMax = Int64(1) << 24 - 1

    init(packed: UInt64) {
        self.init(
            day: Int64(packed >> Self.countBitCount), count: Int64(packed & (1 << Self.countBitCount - 1)))
    }

    var packed: UInt64 { UInt64(day) << Self.countBitCount | UInt64(count) }

    /// Increments a count that other loops change too; returns false if the limit is reached.
    static func add(to state: borrowing Atomic<UInt64>, on day: Int64, upTo limit: Int64) -> Bool {
        change(state) { DayCount(packed: $0).on(day).adding(upTo: limit) }
    }

    /// Decrements the count if it belongs to this day.
    static func refund(to state: borrowing Atomic<UInt64>, on day: Int64) {
        _ = change(state) { packed in
            let known = DayCount(packed: packed)
            return known == known.on(day) && known.count > 0 ? DayCount(day: day, count: known.count - 1) : nil
        }
    }

    private static func change(_ state: borrowing Atomic<UInt64>, _ body: (UInt64) -> DayCount?) -> Bool {
        // Relaxed ordering suffices: no other data depends on this number.
        var known = state.load(ordering: .relaxed)
        while let next = body(known) {
            let (isDone, found) = state.weakCompareExchange(expected: known, desired: next.packed, ordering: .relaxed)
            if isDone { return true }
            known = found
        }
        return false
    }
}
