// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AgentPanel

struct PanelStateTests {
    @Test func `a state is read as it was written`() {
        var state = PanelState()
        state.size = PanelState.Size(width: 600, height: 500)
        state.isMaximized = true
        state.tab = .settings
        state.filter = .notShown
        state.collapsedApps = ["org.example.Mail", "org.example.Chat"]
        #expect(PanelState { state.text($0) } == state)
        #expect(PanelState { _ in nil } == PanelState())
    }

    @Test(arguments: ["", "-1", "0", "99999999999999999999", "nonsense", "32768"])
    func `an invalid size or word reads as the default`(value: String) {
        #expect(PanelState { _ in value }.size == nil)
        #expect(PanelState { _ in value }.tab == .notifications)
        #expect(PanelState { _ in value }.filter == .all)
    }
}
