// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentPanel
import Testing

struct AlertButtonsTests {
    @Test func `Close stands dark at the left, View light at the right, and Return presses View`() {
        let plan = AlertButtons(SampleRecords.alert())
        #expect(plan.buttons.map(\.title) == ["Close", "View"])
        #expect(plan.buttons.map(\.role) == [.close, .view])
        #expect(plan.buttons.map(\.isDark) == [true, false])
        #expect(plan.defaultIndex == 1 && !plan.isColumn)
        #expect(plan.rows(isLow: false) == [[0, 1]] && plan.rows(isLow: true) == [[0, 1]])
    }

    @Test func `an alert without an app to open has a single light OK button, which closes it`() {
        let plan = AlertButtons(SampleRecords.alert(viewLabel: ""))
        #expect(plan.buttons.map(\.title) == ["OK"] && plan.buttons.map(\.role) == [.close])
        #expect(plan.buttons.map(\.isDark) == [false] && plan.defaultIndex == 0)
    }

    @Test func `an action replaces View`() {
        let plan = AlertButtons(SampleRecords.alert(actions: [("reply", true)]))
        #expect(plan.buttons.map(\.role) == [.close, .write("reply")])
        #expect(plan.buttons.map(\.title) == ["Close", "REPLY"] && plan.defaultIndex == 0)
    }

    @Test(arguments: 2...4) func `three or more buttons are stacked, with Close at the bottom`(count: Int) {
        let plan = AlertButtons(SampleRecords.alert(actions: (0..<count).map { ("a\($0)", false) }))
        #expect(plan.isColumn && plan.buttons.count == count + 1)
        #expect(plan.buttons.last?.role == .close && plan.buttons.first?.role == .action("a0"))
        #expect(plan.defaultIndex == count, "nobody knows what an app's own action does")
        #expect(plan.rows(isLow: false) == (0...count).map { [$0] })
    }

    @Test(arguments: [
        (2, [[0, 1], [2]]), (3, [[0, 1], [3, 2]]), (4, [[0, 1], [2, 3], [4]]),
    ])
    func `on a low screen two buttons share a row, with Close left of the last action`(count: Int, rows: [[Int]]) {
        let plan = AlertButtons(SampleRecords.alert(actions: (0..<count).map { ("a\($0)", false) }))
        #expect(plan.rows(isLow: true) == rows)
        #expect(plan.rows(isLow: true).flatMap { $0 }.sorted() == Array(plan.buttons.indices))
    }

    @Test func `an alert shows at most four actions of an app`() {
        let plan = AlertButtons(SampleRecords.alert(actions: (0..<9).map { ("a\($0)", false) }))
        #expect(plan.buttons.map(\.title) == ["A0", "A1", "A2", "A3", "Close"])
    }

    @Test func `a button has visible text of limited length`() throws {
        let wide = String(repeating: "W", count: 243)
        let short = String(repeating: "W", count: 39) + "…"
        var alert = SampleRecords.alert(viewLabel: "\u{200B}", actions: [("a", false), ("\u{200B}", false)])
        #expect(AlertButtons(alert).buttons.map(\.title) == ["Close", "A"])
        alert.actions[0].title = wide
        #expect(AlertButtons(alert).buttons.map(\.title) == ["Close", short])
        #expect(AlertButtons(writing: alert.actions[0]).buttons.map(\.title) == ["Close", short])
        alert.actions = [alert.actions[1]]
        #expect(AlertButtons(alert).buttons.map(\.title) == ["Close", "View"])
        #expect(AlertButtons(SampleRecords.alert(viewLabel: wide)).buttons.map(\.title) == ["Close", short])
    }

    @Test func `an alert with a reply field has a Close and a send button`() throws {
        let action = try #require(SampleRecords.alert(actions: [("reply", true), ("mute", false)]).actions.first)
        let plan = AlertButtons(writing: action)
        #expect(plan.buttons.map(\.role) == [.close, .action("reply")] && plan.defaultIndex == 1)
    }
}
