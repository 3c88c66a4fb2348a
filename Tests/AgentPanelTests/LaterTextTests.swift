// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import PushAPI
import PushCore
import Testing

struct LaterTextTests {
    private static func today(_ hour: Int, _ minute: Int = 0) -> Timestamp {
        let midnight = LocalMoment.next(minute: 0, after: Timestamp(unixSeconds: 1_795_300_715))
        return LocalMoment.next(minute: hour * 60 + minute, after: midnight)
    }

    @Test(arguments: [
        (3, 0, ["In One Hour", "At 07:00", "At 18:00"]), (6, 30, ["At 07:00", "In One Hour", "At 18:00"]),
        (12, 0, ["In One Hour", "At 18:00", "Tomorrow at 07:00"]),
        (17, 30, ["At 18:00", "In One Hour", "Tomorrow at 07:00"]),
        (20, 0, ["In One Hour", "Tomorrow at 07:00", "Tomorrow at 18:00"]),
    ])
    func `the choices are in the order of time, and say which are tomorrow`(
        hour: Int, minute: Int, titles: [String]
    ) {
        let now = Self.today(hour, minute)
        #expect(LaterChoice.inOrder(after: now).map { $0.title(now: now) } == titles)
    }

    @Test func `a reminder says whether it is today, tomorrow or later`() {
        let now = Self.today(12)
        #expect(LaterText.reminder(nil, now: now) == "")
        #expect(LaterText.reminder(Self.today(18), now: now) == "Reminder today at 18:00")
        let later = now.advanced(bySeconds: 20 * 3600)
        #expect(LaterText.reminder(later, now: now) == "Reminder tomorrow at \(PanelTime.clock(later))")
        let date = now.advanced(bySeconds: 3 * 86_400)
        #expect(LaterText.reminder(date, now: now) == "Reminder on \(PanelTime.long(date))")
    }
}
