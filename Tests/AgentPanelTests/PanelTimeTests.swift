// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import PushCore
import Testing

struct PanelTimeTests {
    /// An arbitrary moment, which tests interpret in the machine's time zone.
    private static let now = Timestamp(unixSeconds: 1_795_295_709)
    private static let day: Int64 = 86_400

    private static func later(days: Int64) -> Timestamp { now.advanced(bySeconds: days * day) }

    @Test func `a moment is shown as a time today, Yesterday, a weekday, or a date`() {
        #expect(PanelTime.short(Self.now, now: Self.now).wholeMatch(of: /\d\d:\d\d/) != nil)
        #expect(PanelTime.short(Self.later(days: -1), now: Self.now) == "Yesterday")
        for days in Int64(2)...6 {
            #expect(PanelTime.weekdays.contains(PanelTime.short(Self.later(days: -days), now: Self.now)))
        }
        #expect(
            PanelTime.short(Self.later(days: -7), now: Self.now).wholeMatch(of: /\d{4}\u{2011}\d\d\u{2011}\d\d/) != nil)
        // A future date comes from a clock that was wrong.
        #expect(
            PanelTime.short(Self.later(days: 2), now: Self.now).wholeMatch(of: /\d{4}\u{2011}\d\d\u{2011}\d\d/) != nil)
    }

    @Test func `an arrival on another day has the day and the time`() {
        let clock = PanelTime.short(Self.now, now: Self.now)
        #expect(PanelTime.arrival(Self.now, now: Self.now) == clock)
        #expect(PanelTime.arrival(Self.now, now: Self.later(days: 1)) == "Yesterday \(clock)")
        let earlier = PanelTime.arrival(Self.now, now: Self.later(days: 9))
        #expect(earlier == PanelTime.long(Self.now))
        #expect(PanelTime.arrival(Timestamp(unixSeconds: .max), now: Self.now) == "")
    }

    @Test(arguments: [Timestamp(unixSeconds: .min), Timestamp(unixSeconds: .max)])
    func `a moment outside the calendar has no text`(moment: Timestamp) {
        #expect(PanelTime.short(moment, now: Self.now) == "" && PanelTime.long(moment) == "")
        #expect(PanelTime.moment(moment, now: Self.now) == "")
    }

    @Test func `the date stands before the time on another day`() {
        #expect(PanelTime.moment(Self.now, now: Self.now).wholeMatch(of: /\d\d:\d\d/) != nil)
        let other = PanelTime.moment(Self.later(days: -1), now: Self.now)
        #expect(other == PanelTime.long(Self.later(days: -1)))
        #expect(other.wholeMatch(of: /\d{4}\u{2011}\d\d\u{2011}\d\d \d\d:\d\d/) != nil)
    }

    @Test(arguments: [(0, "00:00"), (9 * 60 + 5, "09:05"), (1439, "23:59")])
    func `a minute of the day reads as on a clock`(minute: Int, text: String) {
        #expect(PanelTime.clock(minute: minute) == text)
    }
}
