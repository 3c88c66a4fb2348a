// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushNet

@Suite struct LogBucketsTests {
    private let connected = LogBuckets.Cause(event: "connected", level: .info)
    private let failed = LogBuckets.Cause(event: "failed", level: .warning)

    private static func time(nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }
    private static func time(seconds: Int64) -> MonotonicTime { .past.advanced(bySeconds: seconds) }

    @Test(arguments: EventLog.Level.allCases)
    func `a burst is logged, then one line per refill with the number of suppressed lines`(level: EventLog.Level) {
        var buckets = LogBuckets()
        let (cause, rate) = (LogBuckets.Cause(event: "test", level: level), LogBounds.rate(of: level))
        for _ in 0..<rate.burst { #expect(buckets.admit(cause, about: nil, now: .past) == 0) }
        let refill = 60_000_000_000 / rate.perMinute
        #expect(buckets.admit(cause, about: nil, now: .past) == nil)
        #expect(buckets.admit(cause, about: nil, now: Self.time(nanoseconds: refill - 1)) == nil)
        #expect(buckets.admit(cause, about: nil, now: Self.time(nanoseconds: refill)) == 2)
        #expect(buckets.admit(cause, about: nil, now: Self.time(nanoseconds: 2 * refill)) == 0)
    }

    @Test func `a subject's line is logged once a minute and does not use up the event's bucket`() {
        var buckets = LogBuckets()
        #expect(buckets.admit(connected, about: "a", now: .past) == 0)
        for _ in 0..<77_999 { #expect(buckets.admit(connected, about: "a", now: Self.time(seconds: 59)) == nil) }
        // The same subject of another event, and another subject, have their own limit.
        #expect(buckets.admit(failed, about: "a", now: Self.time(seconds: 59)) == 0)
        #expect(buckets.admit(connected, about: "b", now: Self.time(seconds: 59)) == 77_999)
        #expect(buckets.admit(connected, about: "a", now: Self.time(seconds: 60)) == 0)
    }

    @Test func `suppressed lines are summarized a minute later if no other line reports them`() {
        var buckets = LogBuckets()
        #expect(buckets.nextSummary == nil)
        _ = buckets.admit(connected, about: "a", now: .past)
        #expect(buckets.nextSummary == nil)
        for moment in 1...5 { _ = buckets.admit(connected, about: "a", now: Self.time(seconds: Int64(moment))) }
        _ = buckets.admit(failed, about: "a", now: .past)
        _ = buckets.admit(failed, about: "a", now: Self.time(seconds: 30))
        #expect(buckets.nextSummary == Self.time(seconds: 61))
        #expect(buckets.takeSummaries(now: Self.time(nanoseconds: 60_999_999_999)).isEmpty)
        #expect(buckets.takeSummaries(now: Self.time(seconds: 61)) == [.init(cause: connected, count: 5)])
        #expect(buckets.nextSummary == Self.time(seconds: 90))
        #expect(buckets.takeSummaries(now: nil) == [.init(cause: failed, count: 1)])
        #expect(buckets.nextSummary == nil)
    }

    @Test func `more subjects than the table holds are limited by the event's bucket`() {
        var buckets = LogBuckets()
        let (countMax, burst) = (LogBounds.subjectCountMax, Int(LogBounds.rate(of: .info).burst))
        var passedCount = 0
        // Enough events log one line for each of their subjects to fill the table.
        for event in 0...(countMax / burst) {
            let cause = LogBuckets.Cause(event: "\(event)", level: .info)
            for subject in 0..<burst where buckets.admit(cause, about: "\(subject)", now: .past) != nil {
                passedCount += 1
            }
        }
        #expect(passedCount == (countMax / burst + 1) * burst)
        let late = LogBuckets.Cause(event: "late", level: .info)
        let admitted = (0..<10 * burst).filter { _ in
            buckets.admit(late, about: "x", now: Self.time(nanoseconds: 1)) != nil
        }
        #expect(admitted.count == burst)
        // A minute later the table has free entries again.
        #expect(buckets.admit(late, about: "x", now: Self.time(seconds: 61)) == 9 * burst)
        #expect(buckets.admit(late, about: "x", now: Self.time(seconds: 61)) == nil)
    }
}
