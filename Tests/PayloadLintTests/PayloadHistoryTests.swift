// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore
import TestSupport
import Testing

struct PayloadHistoryTests {
    private static let hour: Int64 = 3600

    /// Returns a history of alerts with different texts at these moments.
    private func history(_ moments: [Int64], now: Int64) -> PayloadHistory {
        var history = PayloadHistory(now: .unixEpoch)
        for moment in moments {
            history.now = Timestamp(unixSeconds: moment)
            history.note(bytes(#"{"aps":{"alert":"Report number \#(moment) is here."}}"#).span, pushType: .alert)
        }
        history.now = Timestamp(unixSeconds: now)
        return history
    }

    private func checks(_ text: String, _ history: PayloadHistory) -> [PayloadCheck] {
        findings(#"{"aps":{"alert":"\#(text)"}}"#, history: history).map(\.check)
    }

    @Test func `the fifth alert within an hour is one too many, and only that one is reported`() {
        #expect(checks("Kim is here.", history([0, 1, 2], now: 3)) == [])
        #expect(checks("Kim is here.", history([0, 1, 2, 3], now: 4)) == [.tooManyAlerts])
        #expect(checks("Kim is here.", history([0, 1, 2, 3], now: Self.hour)) == [.tooManyAlerts])
        #expect(checks("Kim is here.", history([0, 1, 2, 3], now: Self.hour + 1)) == [])
        #expect(checks("Kim is here.", history(Array(0..<5), now: 5)) == [])
        #expect(checks("Kim is here.", history(Array(0..<100), now: 100)) == [])
        #expect(checks("Kim is here.", history(Array(0..<5), now: Self.hour + 1)) == [.tooManyAlerts])
    }

    @Test func `only visible alerts count`() {
        var history = history([0, 1, 2], now: 3)
        history.note(bytes(#"{"aps":{"badge":1}}"#).span, pushType: .alert)
        history.note(bytes(#"{"aps":{"alert":"A report is here."}}"#).span, pushType: .voip)
        history.note(bytes("{").span, pushType: .alert)
        #expect(checks("Kim is here.", history) == [])
        #expect(findings(#"{"aps":{"badge":1}}"#, history: self.history([0, 1, 2, 3], now: 4)) == [])
    }

    @Test func `the same texts within ten minutes are a repetition`() {
        let first = #"{"aps":{"alert":{"title":"Mail from Kim","body":"Lunch is at noon."},"badge":1}}"#
        var history = PayloadHistory(now: Timestamp(unixSeconds: 1000))
        history.note(bytes(first).span, pushType: nil)
        func checks(_ payload: String, after seconds: Int64) -> [PayloadCheck] {
            history.now = Timestamp(unixSeconds: 1000 + seconds)
            return findings(payload, history: history).map(\.check)
        }
        #expect(checks(first, after: 600) == [.repeatedAlert])
        #expect(checks(first, after: 601) == [])
        #expect(checks(first.replacing(#""badge":1"#, with: #""badge":2"#), after: 1) == [.repeatedAlert])
        #expect(checks(first.replacing("noon", with: "one"), after: 1) == [])
        #expect(checks(first.replacing("from Kim", with: "from Lee"), after: 1) == [])
    }

    @Test func `extreme timestamps do not overflow`() {
        let history = history([.min, .max], now: .max)
        #expect(checks("Kim is here.", history) == [])
        #expect(checks("Kim is here.", self.history([.max], now: .min)) == [])
    }
}
