// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many notifications went out in one day of UTC; one number, so that loops can share it.
///
/// On any other day it begins anew, on an earlier one too: a clock that was ahead must not leave a sender locked out.
struct DayCount: Equatable {
    /// Days since 1970.
    let day: Int64
    let count: Int64

    init(day: Int64, count: Int64) {
        self.day = max(0, day) & Self.dayMax
        self.count = min(max(0, count), Self.countMax)
    }

    /// What is counted on this day.
    func on(_ day: Int64) -> DayCount {
        let today = DayCount(day: day, count: 0)
        return today.day == self.day ? self : today
    }

    /// One more; nil when the limit is reached.
    func adding(upTo limit: Int64) -> DayCount? { count < limit ? DayCount(day: day, count: count + 1) : nil }

    // MARK: As one number

    private static let countBitCount: UInt64 = 40
    private static let countMax = Int64(1) << 40 - 1
    private static let dayMax = Int64(1) << 24 - 1

    init(packed: UInt64) {
        self.init(
            day: Int64(packed >> Self.countBitCount), count: Int64(packed & (1 << Self.countBitCount - 1)))
    }

    var packed: UInt64 { UInt64(day) << Self.countBitCount | UInt64(count) }

    /// Counts one more in a number that others count in, too; false when the limit is reached.
    static func add(to state: borrowing Atomic<UInt64>, on day: Int64, upTo limit: Int64) -> Bool {
        change(state) { DayCount(packed: $0).on(day).adding(upTo: limit) }
    }

    /// Takes one back that was counted on this day.
    static func takeBack(from state: borrowing Atomic<UInt64>, on day: Int64) {
        _ = change(state) { packed in
            let known = DayCount(packed: packed)
            return known == known.on(day) && known.count > 0 ? DayCount(day: day, count: known.count - 1) : nil
        }
    }

    private static func change(_ state: borrowing Atomic<UInt64>, _ body: (UInt64) -> DayCount?) -> Bool {
        // Ordered with nothing: the number is all there is.
        var known = state.load(ordering: .relaxed)
        while let next = body(known) {
            let (isDone, found) = state.weakCompareExchange(expected: known, desired: next.packed, ordering: .relaxed)
            if isDone { return true }
            known = found
        }
        return false
    }
}
