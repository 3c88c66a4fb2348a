// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import Testing

struct QuietCommandTests {
    /// The time 1,800,000,000 is a Wednesday.
    private static let now = Timestamp(unixSeconds: 1_800_000_000)

    private func call(_ words: String...) throws -> [BusValue]? {
        try QuietCommand.setCall(try typed(["dnd"] + words), now: Self.now)?.arguments
    }

    private func report(_ manual: String, _ schedule: String) -> Report {
        let settings = [("do-not-disturb", manual), ("schedule", schedule)].map { name, value in
            SettingRecord(.dictionary([("name", .string(name)), ("value", .string(value))]))
        }
        return QuietCommand.report(of: settings, now: Self.now)
    }

    @Test func `arguments become settings`() throws {
        func setting(_ name: String, _ value: String) -> [BusValue] {
            [.string(""), .string(""), .string(name), .string(value)]
        }
        #expect(try call() == nil)
        #expect(try call("on") == setting("do-not-disturb", "on"))
        #expect(try call("off") == setting("do-not-disturb", "off"))
        #expect(try call("for", "2h") == setting("do-not-disturb", "until \(Self.now.unixSeconds + 7200)"))
        #expect(try call("schedule", "none") == setting("schedule", "none"))
        #expect(
            try call("schedule", "mon-tue", "22:00-07:00,", "sun", "09:00-10:00")
                == setting("schedule", "mon tue 22:00-07:00, sun 09:00-10:00"))
    }

    @Test(arguments: [
        ["for", "2"], ["for"], ["for", "0h"], ["until", "24:00"], ["until", "7"], ["until", "+7:00"], ["on", "now"],
        ["schedule", "weekend"], ["schedule", "sun 9:00-10:00"],
    ])
    func `invalid arguments are refused`(words: [String]) throws {
        let invocation = try typed(["dnd"] + words)
        let error = thrown { () throws(CommandError) in
            _ = try QuietCommand.setCall(invocation, now: Self.now)
        }
        #expect(error?.exitCode == .usage)
    }

    @Test(arguments: [
        (["for"], "missing argument: DURATION after 'for'"), (["until"], "missing argument: HH:MM after 'until'"),
        (["schedule"], "missing argument: TIMES after 'schedule'"), (["for", "0m"], "use a duration above zero"),
        (["for", "1000000h"], "at most 36500d"), (["for", "2"], "use a number with a unit: s, m, h or d"),
        (["schedule", "mon", "22:00-22:00"], "use different times for start and end, or 00:00-24:00 for whole days"),
    ])
    func `an invalid length of time is explained`(words: [String], reason: String) throws {
        let invocation = try typed(["dnd"] + words)
        let error = thrown { () throws(CommandError) in
            _ = try QuietCommand.setCall(invocation, now: Self.now)
        }
        #expect(error?.problem.hasSuffix(reason) == true, "\(error?.problem ?? "")")
    }

    @Test(arguments: ["00:00", "7:30", "07:30", "12:00", "23:59"])
    func `a time of day means its next occurrence`(time: String) throws {
        let end = try #require(LocalTime.next(time, after: Self.now))
        #expect(end > Self.now && end <= Self.now.advanced(bySeconds: 25 * 3600))
        let shown = LocalTime.text(end)
        #expect(shown.contains(" \(time.utf8.count == 4 ? "0" : "")\(time):00"))
    }

    @Test func `the report shows the state and its end`() throws {
        #expect(report("off", "none").text == "Do Not Disturb is off.")
        #expect(report("until \(Self.now.unixSeconds)", "none").text == "Do Not Disturb is off.")
        #expect(report("on", "none").text.contains("posthorn dnd off"))
        let later = Self.now.advanced(bySeconds: 60)
        let timed = report("until \(later.unixSeconds)", "none")
        #expect(timed.text == "Do Not Disturb is on until \(LocalTime.text(later)).")
        #expect(try timed.jsonText == #"{"active":true,"schedule":"none","until":1800000060}"#)
    }

    @Test func `an active schedule ends at the end of adjoining spans`() throws {
        let minute = LocalTime.weekTime(Self.now).minute
        func clock(_ minute: Int) -> String {
            let (hour, rest) = (minute % 1440).quotientAndRemainder(dividingBy: 60)
            return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
        }
        let times = "\(clock(minute + 1439))-\(clock(minute + 5)), \(clock(minute + 5))-\(clock(minute + 9))"
        let end = Self.now.advanced(bySeconds: 9 * 60 - Self.now.unixSeconds % 60)
        let holding = report("off", times)
        let until = LocalTime.text(end)
        #expect(holding.text.hasPrefix("Do Not Disturb is on by its schedule until \(until)."))
        #expect(holding.text.contains("posthorn dnd schedule none"))
        #expect(holding.text.hasSuffix("\nSchedule: \(times)"))
        let other = report("off", "\(clock(minute + 1))-\(clock(minute + 2))")
        #expect(other.text.hasPrefix("Do Not Disturb is off.\nSchedule: "))
        #expect(report("off", "00:00-24:00").text.contains("by its schedule until"))
    }
}
