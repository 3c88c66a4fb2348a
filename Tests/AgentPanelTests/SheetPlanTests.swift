// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import Testing

struct SheetPlanTests {
    @Test func `the destructive button is first, and Cancel is last`() {
        let plan = SheetPlan(destroy: "Clear 12 Notifications", choices: ["Mark as Read"])
        #expect(plan.buttons.map(\.title) == ["Clear 12 Notifications", "Mark as Read", "Cancel"])
        #expect(plan.buttons.map(\.role) == [.destroy, .choose(0), .cancel])
        #expect(SheetPlan(destroy: nil, choices: ["a", "b"]).buttons.map(\.role) == [.choose(0), .choose(1), .cancel])
    }

    @Test func `a sheet without choices stops the process`() async {
        await #expect(processExitsWith: .failure) { _ = SheetPlan(destroy: nil) }
    }

    @Test func `two buttons with the same name stop the process`() async {
        await #expect(processExitsWith: .failure) { _ = SheetPlan(destroy: "Cancel") }
        await #expect(processExitsWith: .failure) { _ = SheetPlan(destroy: nil, choices: ["a", "a"]) }
    }
}
