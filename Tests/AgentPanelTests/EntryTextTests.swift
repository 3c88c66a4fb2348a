// SPDX-License-Identifier: Apache-2.0

import AgentPanel
import Testing

struct EntryTextTests {
    @Test(arguments: [
        ("shown", "", "shown"), ("viewed", "", "viewed"), ("closed", "", "closed"), ("waiting", "", "waiting"),
        ("suppressed", "master-off", "suppressed: all notifications are switched off"),
        ("suppressed", "something-new", "suppressed: something-new"),
        ("viewed", "org.example.Mail is not installed", "viewed: org.example.Mail is not installed"),
    ])
    func `an entry says when it came and what became of it`(state: String, reason: String, words: String) throws {
        let entry = EntryText(
            title: "Lunch", body: "At noon", receivedUnixMilliseconds: 1_795_295_709_000, state: state, reason: reason)
        let lines = entry.subtitle.split(separator: "\n")
        #expect(lines.dropLast() == ["Lunch", "At noon"])
        // The zone is the machine's.
        #expect(lines.last?.wholeMatch(of: /2026-11-2\d \d\d:\d\d, (.*)/)?.1 == Substring(words))
    }

    @Test(arguments: [Int64.min, 0, Int64.max])
    func `an entry without texts or with an odd time still has its state`(time: Int64) {
        let entry = EntryText(title: "", body: "", receivedUnixMilliseconds: time, state: "shown", reason: "")
        #expect(entry.subtitle.hasSuffix(", shown"))
        #expect(!entry.subtitle.contains("\n"))
    }
}
