// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import Testing

/// Checks `inbox remind` and `settings mute`.
struct LaterCommandTests {
    private static let now = Timestamp(unixSeconds: 1_795_300_715)

    private func time(_ words: String...) throws -> Timestamp? {
        try RemindCommand.time(try typed(["inbox", "remind", "12"] + words), now: Self.now)
    }

    private func mute(_ words: String...) throws -> DoNotDisturb {
        try MuteCommand.mute(try typed(["settings", "mute", "a.b"] + words), now: Self.now)
    }

    private func problem(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return (error as? CommandError)?.problem ?? "\(error)"
        }
    }

    @Test func `a time is a duration, a part of the day, a time of day, or a date`() throws {
        #expect(try time("1h") == Self.now.advanced(bySeconds: 3600))
        #expect(try time("90m") == Self.now.advanced(bySeconds: 5400))
        #expect(try time("evening") == LocalTime.next("18:00", after: Self.now))
        #expect(try time("tomorrow") == LocalTime.next("07:00", after: Self.now))
        #expect(try time("08:30") == LocalTime.next("08:30", after: Self.now))
        let date = try #require(try time("2027-02-28", "08:30"))
        #expect(LocalTime.text(date).hasPrefix("2027-02-28 08:30:00"))
        #expect(try time("2027-02-28T08:30") == date)
        #expect(try time("--cancel") == nil)
    }

    @Test(arguments: [["later"], ["25:00"], ["2027-02-30", "08:30"], ["2027-02-28"], ["-1"]])
    func `another text is refused with the forms`(words: [String]) throws {
        let invocation = try typed(["inbox", "remind", "12", "--"] + words)
        #expect(problem { _ = try RemindCommand.time(invocation, now: Self.now) }.contains("evening"))
    }

    @Test(
        arguments: [
            (["0m"], "use a duration above zero"), (["-1h"], "use a duration above zero"),
            (["99999d"], "use at most 36500d"), (["2020-01-01", "10:00"], "the time is in the past"),
            (["367d"], "use a time within the next 366 days"),
        ] as [([String], String)])
    func `a time that has passed or is too late is refused with the reason`(words: [String], reason: String) throws {
        let text = words.joined(separator: " ")
        let reminder = try typed(["inbox", "remind", "12", "--"] + words)
        let expected = "invalid value '\(text)' for TIME: \(reason)"
        #expect(problem { _ = try RemindCommand.time(reminder, now: Self.now) } == expected)
        guard !reason.contains("366") else { return }
        let mute = try typed(["settings", "mute", "a.b", "--"] + words)
        #expect(problem { _ = try MuteCommand.mute(mute, now: Self.now) } == expected)
    }

    @Test func `a misspelled part of the day is answered with the closest one`() throws {
        for words in [["inbox", "remind", "12", "tommorow"], ["settings", "mute", "a.b", "until", "tommorow"]] {
            let invocation = try typed(words)
            let error = thrown { () throws(CommandError) in
                if words[0] == "inbox" {
                    _ = try RemindCommand.time(invocation, now: Self.now)
                } else {
                    _ = try MuteCommand.mute(invocation, now: Self.now)
                }
            }
            #expect(error?.exitCode == .usage && error?.remedy == "Did you mean 'tomorrow'?")
        }
    }

    @Test func `a reminder needs a time or --cancel, and not both`() {
        #expect(problem { _ = try time() }.contains("missing argument: TIME"))
        #expect(problem { _ = try time("1h", "--cancel") }.contains("--cancel"))
    }

    @Test func `the call has the entry and UNIX seconds, and 0 cancels`() {
        #expect(RemindCommand.call(12, Self.now).arguments == [.int64(12), .int64(1_795_300_715)])
        #expect(RemindCommand.call(12, nil).arguments == [.int64(12), .int64(0)])
        #expect(RemindCommand.call(12, nil).method == .remindEntry)
        #expect(RemindCommand.report(of: 12, Self.now).text.contains(LocalTime.text(Self.now)))
        #expect(RemindCommand.report(of: 12, nil).text == "Notification 12 has no reminder.")
    }

    @Test func `a mute lasts an hour unless the command says another time, or off`() throws {
        let hour = DoNotDisturb.until(Self.now.advanced(bySeconds: 3600))
        #expect(try mute() == hour && mute("1h") == hour && mute("off") == .off)
        #expect(try mute("until", "08:30") == mute("08:30"))
        #expect(try mute("tomorrow") == .until(try #require(LocalTime.next("07:00", after: Self.now))))
        #expect(problem { _ = try mute("until") }.contains("until"))
        #expect(problem { _ = try mute("until") } == "missing argument: TIME after 'until'")
        #expect(problem { _ = try mute("on") }.contains("use off, evening"))
        #expect(problem { _ = try mute("until", "off") }.contains("invalid value 'off'"))
        for time in ["2h", "500d", "18:30", "tomorrow"] {
            let invocation = try typed("settings", "mute", time)
            let error = thrown { () throws(CommandError) in _ = try MuteCommand.mute(invocation, now: Self.now) }
            #expect(error?.problem == "missing argument: APP")
            #expect(error?.remedy == "Use: posthorn settings mute APP \(time)")
        }
        let call = MuteCommand.call("a.b", hour)
        #expect(call.method == .setSetting)
        #expect(
            call.arguments == [.string("a.b"), .string(""), .string("muted"), .string("until 1795304315")])
        #expect(MuteCommand.report(of: "a.b", .off).text == "a.b is not muted.")
        #expect(MuteCommand.report(of: "a.b", hour).text.hasPrefix("a.b is muted until 20"))
    }
}
