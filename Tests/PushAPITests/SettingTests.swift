// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore
import Testing

struct SettingTests {
    @Test(arguments: Setting.allCases) func `each default is a valid value`(_ setting: Setting) {
        for scope in setting.scopes {
            let standard = setting.defaultValue(for: scope)
            #expect(setting.normalized(standard, for: scope) == standard, "\(setting) for \(scope)")
        }
        for scope in Setting.Scope.allCases where !setting.scopes.contains(scope) {
            #expect(setting.normalized("on", for: scope) == nil)
        }
    }

    @Test func `values are normalized`() {
        let alert = Setting.alert
        #expect(alert.normalized("on", for: .app) == "banner" && alert.normalized("off", for: .app) == "none")
        #expect(alert.normalized("alert", for: .app) == "alert" && alert.normalized("alert", for: .event) == nil)
        #expect(Setting.inboxDays.normalized("030", for: .device) == "30")
        #expect(Setting.inboxDays.normalized("0", for: .device) == nil)
        #expect(Setting.soundName.normalized("../x", for: .app) == nil)
        #expect(Setting.soundName.normalized("a/b", for: .app) == nil)
        #expect(Setting.soundName.normalized("drop.oga", for: .app) == "drop.oga")
        #expect(Setting.doNotDisturb.normalized("until 5", for: .device) == "until 5")
        #expect(Setting.doNotDisturb.normalized("until", for: .device) == nil)
        #expect(Setting.muted.normalized("until 5", for: .app) == "until 5")
        #expect(Setting.muted.normalized("off", for: .app) == "off")
        for text in ["on", "until", "until -5", ""] { #expect(Setting.muted.normalized(text, for: .app) == nil) }
        #expect(Setting.muted.normalized("off", for: .device) == nil)
        #expect(Setting.badge.normalized("ON", for: .app) == nil)
    }

    @Test(arguments: [
        ("none", "none"), ("22:00-07:00", "22:00-07:00"), ("mon-fri 22:00-07:00", "mon tue wed thu fri 22:00-07:00"),
        ("SAT sun 23:00-09:00,mon 12:00-13:00", "sat sun 23:00-09:00, mon 12:00-13:00"),
        ("fri-mon 00:00-00:00x", nil), ("fri-mon 01:00-00:00", "mon fri sat sun 01:00-24:00"),
        ("00:00-24:00", "00:00-24:00"),
        ("24:00-01:00", nil), ("8:00-9:00", nil), ("mon", nil), ("", nil), ("mon 10:00-10:00", nil),
        ("funday 10:00-11:00", nil),
        ("10:60-11:00", nil), ("mon-tue-wed 10:00-11:00", nil),
    ])
    func `a schedule is read and written`(_ text: String, _ kept: String?) {
        #expect(QuietSchedule(text)?.text == kept)
    }

    @Test func `times that end before they begin belong to the day on which they begin`() throws {
        let schedule = try #require(QuietSchedule("fri 22:00-07:00, wed 12:00-13:00"))
        func holds(_ weekday: Int, _ hour: Int, _ minute: Int = 0) -> Bool {
            schedule.contains(QuietSchedule.LocalTime(weekday: weekday, minute: hour * 60 + minute))
        }
        #expect(!holds(4, 21, 59) && holds(4, 22) && holds(5, 0) && holds(5, 6, 59) && !holds(5, 7))
        #expect(!holds(4, 3) && !holds(6, 3) && holds(2, 12) && !holds(2, 13) && !holds(3, 12))
    }

    @Test func `a full schedule contains every minute of a week, and an empty one contains none`() throws {
        let (all, none) = (try #require(QuietSchedule("00:00-24:00")), try #require(QuietSchedule("none")))
        for minute in 0..<7 * 1440 {
            let time = QuietSchedule.LocalTime(weekday: minute / 1440, minute: minute % 1440)
            #expect(all.contains(time) && !none.contains(time))
        }
    }

    @Test func `do-not-disturb ends at its set time`() {
        func holds(_ text: String, _ seconds: Int64) -> Bool? {
            DoNotDisturb(text)?.holds(at: Timestamp(unixSeconds: seconds))
        }
        #expect(holds("until 100", 99) == true && holds("until 100", 100) == false)
        #expect(holds("on", 0) == true && holds("off", 0) == false)
        let end = Timestamp(unixSeconds: 100)
        #expect(DoNotDisturb.until(end).current(at: Timestamp(unixSeconds: 99)) == .until(end))
        #expect(DoNotDisturb.until(end).current(at: end) == .off && DoNotDisturb.on.current(at: end) == .on)
    }
}
