// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import PushAPI
import PushCore
import Testing

struct QuietTextTests {
    private static let now = Timestamp(unixSeconds: 1_795_295_709)

    @Test func `the row shows the state of Do Not Disturb`() {
        func state(_ value: String, _ schedule: String = "none") -> String {
            QuietText.state(value, schedule: schedule, now: Self.now)
        }
        #expect(state("off") == "Off" && state("on") == "On")
        #expect(state("off", "mon 22:00-07:00") == "Scheduled" && state("on", "mon 22:00-07:00") == "On")
        #expect(state("until \(Self.now.unixSeconds + 60)").hasPrefix("Until "))
        #expect(state("until \(Self.now.unixSeconds)") == "Off" && state("nonsense") == "Off")
    }

    @Test func `the row shows when the current scheduled times end`() {
        let everyDay = "mon tue wed thu fri sat sun"
        let minute = { (offset: Int64) in
            PanelTime.moment(Self.now.advanced(bySeconds: offset * 60), now: Self.now).suffix(5)
        }
        let holding = "\(everyDay) \(minute(-60))-\(minute(90))"
        #expect(QuietText.state("off", schedule: holding, now: Self.now) == "Until \(minute(90))")
        #expect(
            QuietText.state("off", schedule: "\(everyDay) \(minute(60))-\(minute(90))", now: Self.now) == "Scheduled")
        #expect(QuietText.state("on", schedule: holding, now: Self.now) == "On")
    }

    @Test func `a line above the list explains why new notifications are not shown`() {
        func text(_ master: String, _ quiet: String, _ schedule: String = "none") -> String? {
            WithheldText(master: master, quiet: quiet, schedule: schedule, now: Self.now)?.text
        }
        #expect(text("on", "off") == nil && text("", "") == nil)
        #expect(text("off", "off") == "All notifications are turned off." && text("off", "on") == text("off", "off"))
        #expect(text("on", "on") == "Do Not Disturb: On" && text("on", "until \(Self.now.unixSeconds)") == nil)
        #expect(text("on", "until \(Self.now.unixSeconds + 60)")?.hasPrefix("Do Not Disturb: Until ") == true)
        let minute = { (offset: Int64) in
            PanelTime.moment(Self.now.advanced(bySeconds: offset * 60), now: Self.now).suffix(5)
        }
        let everyDay = "mon tue wed thu fri sat sun"
        #expect(text("on", "off", "\(everyDay) \(minute(60))-\(minute(90))") == nil)
        #expect(
            text("on", "off", "\(everyDay) \(minute(-60))-\(minute(90))") == "Do Not Disturb: Until \(minute(90))")
    }

    @Test func `Do Not Disturb has an end only when a time is set`() {
        #expect(QuietText.end("on", now: Self.now) == nil && QuietText.end("until 5", now: Self.now) == nil)
        #expect(QuietText.end("until \(Self.now.unixSeconds + 60)", now: Self.now) != nil)
    }

    @Test(arguments: QuietText.Choice.allCases) func `a choice starts immediately`(choice: QuietText.Choice) {
        #expect(QuietText.isOn(choice.value(now: Self.now), now: Self.now))
        #expect(!choice.title.isEmpty)
    }

    @Test func `a stored value maps to its choice, unless the choice counts from its own start`() {
        for choice in [QuietText.Choice.whenTurnedOff, .later(.thisEvening), .later(.tomorrowMorning)] {
            #expect(QuietText.Choice.of(choice.value(now: Self.now), now: Self.now) == choice)
        }
        #expect(QuietText.Choice.of("until \(Self.now.unixSeconds + 1234)", now: Self.now) == nil)
    }

    @Test func `an end that matches no choice has a text of its own`() {
        let end = Self.now.advanced(bySeconds: 1234)
        let text = PanelTime.moment(end, now: Self.now)
        #expect(QuietText.otherEnd("until \(end.unixSeconds)", now: Self.now) == "At \(text)")
        let values =
            QuietText.Choice.allCases.map { $0.value(now: Self.now) } + ["off", "until \(Self.now.unixSeconds)"]
        for value in values {
            let isNamed = QuietText.otherEnd(value, now: Self.now) != nil
            #expect(isNamed == (QuietText.Choice.of(value, now: Self.now) == nil), "\(value)")
        }
    }

    @Test(arguments: [
        "none", "mon tue wed thu fri 22:00-07:00", "sat sun 23:00-09:00, wed 12:00-13:30",
        "mon tue wed thu fri sat sun 22:00-07:00",
    ])
    func `a schedule survives parsing and formatting`(schedule: String) {
        #expect(QuietTimes.setting(QuietTimes.all(of: schedule)) == schedule)
    }

    @Test func `a schedule may end at midnight, and an invalid one is empty`() {
        #expect(QuietTimes.all(of: "22:00-24:00") == [QuietTimes(days: 0x7F, start: 1320, end: 0)])
        #expect(QuietTimes.all(of: "nonsense") == [])
    }

    @Test func `times that never occur are left out of the schedule`() {
        #expect(QuietTimes.setting([QuietTimes(days: 0, start: 0, end: 60)]) == "none")
        #expect(QuietTimes.setting([QuietTimes(days: 1, start: 60, end: 60)]) == "none")
    }

    @Test(arguments: [
        (0x7F, "Every day"), (0x1F, "Monday to Friday"), (0x60, "Saturday and Sunday"), (0x05, "Mon, Wed"), (0, ""),
    ])
    func `sets of days have a name`(days: UInt8, text: String) {
        #expect(QuietTimes(days: days, start: 1320, end: 420).daysText == text)
    }

    @Test func `a day can be toggled, and times read from left to right`() {
        var times = QuietTimes(days: 0x7F, start: 1320, end: 420)
        times.toggle(day: 6)
        #expect(!times.contains(day: 6) && times.contains(day: 0))
        times.toggle(day: 6)
        #expect(times.daysText == "Every day" && times.timesText == "22:00–07:00")
    }

    @Test func `new times are effective every night, and without a day they are not`() {
        var times = QuietTimes.everyNight
        #expect(times.isEffective && QuietTimes.setting([times]) == "mon tue wed thu fri sat sun 22:00-07:00")
        for day in 0...6 { times.toggle(day: day) }
        #expect(!times.isEffective && QuietTimes.setting([times]) == "none")
    }
}
