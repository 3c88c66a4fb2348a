// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore
internal import Synchronization

/// The use of a subject that other nodes do not know yet.
final class RecentUse: Sendable {
    private let requests = Atomic<Int64>(0)
    private let badTokens = Atomic<Int64>(0)
    /// The packed count of the day that other nodes know.
    private let knownDayCount: Atomic<UInt64>

    init(knownDayCount: DayCount) { self.knownDayCount = Atomic(knownDayCount.packed) }

    func noteRequests(_ count: Int64) { requests.wrappingAdd(count, ordering: .relaxed) }

    func noteBadToken() { badTokens.wrappingAdd(1, ordering: .relaxed) }

    /// Returns the changes since the last call; nil without changes.
    func take(_ subject: QuotaSubject, _ dayCount: DayCount) -> SharedQuotaUse? {
        let requestCount = requests.exchange(0, ordering: .relaxed)
        let badTokenCount = badTokens.exchange(0, ordering: .relaxed)
        let known = knownDayCount.exchange(dayCount.packed, ordering: .relaxed)
        guard requestCount != 0 || badTokenCount != 0 || known != dayCount.packed else { return nil }
        return SharedQuotaUse(
            subject, requestCount: max(requestCount, 0), badTokenCount: badTokenCount, day: dayCount.day,
            dayCount: dayCount.count)
    }
}
