// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import TestSupport
import Testing

/// Checks the switch that turns an app's alerts off and on again in their style.
@Suite struct AlertSwitchTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start() throws -> AgentHarness {
        let harness = try AgentHarness(in: directory)
        try harness.database.apps.save(Sample.app)
        return harness
    }

    /// Sets the app's alert setting, and returns its new value.
    private func set(_ value: String, _ harness: AgentHarness) throws -> String {
        try harness.agent.settings.set("alert", appID: Sample.app.appID, event: "", to: value)
        return try harness.agent.settings.setting("alert", appID: Sample.app.appID, event: "").text
    }

    @Test func `switching alerts on again restores their style, after a restart, too`() throws {
        do {
            let harness = try start()
            #expect(try set("off", harness) == "none")
            #expect(try set("on", harness) == "banner", "what is standard")
            #expect(try set("alert", harness) == "alert")
            #expect(try set("on", harness) == "alert", "they were on")
            for off in ["off", "none", "off"] { #expect(try set(off, harness) == "none") }
        }
        let harness = try start()
        #expect(try set("on", harness) == "alert")
        #expect(try set("", harness) == "banner")
        #expect(try set("off", harness) == "none")
        #expect(try set("on", harness) == "banner", "the last one that there was")
    }

    @Test func `an app's saved style is removed with the app`() throws {
        let harness = try start()
        #expect(try [set("alert", harness), set("off", harness)] == ["alert", "none"])
        try harness.database.choices.removeAll(appID: Sample.app.appID)
        #expect(try [set("off", harness), set("on", harness)] == ["none", "banner"])
    }

    @Test func `a policy's style is restored, too, and a locked style stays`() throws {
        let harness = try start()
        func setPolicy(_ value: String, isLocked: Bool) throws {
            let rule = LocalPolicyTable.Rule(topic: nil, setting: .alert, value: value, isLocked: isLocked)
            try harness.database.policy.replaceAll([rule])
        }
        try setPolicy("alert", isLocked: false)
        #expect(try set("off", harness) == "none")
        #expect(try set("on", harness) == "alert")
        #expect(try set("banner", harness) == "banner")
        try setPolicy("none", isLocked: false)
        #expect(try set("", harness) == "none", "the administrator's value holds, and the user's is gone")
        #expect(try set("on", harness) == "banner")
        try setPolicy("none", isLocked: true)
        #expect(throws: AgentRefusal.self) { try set("on", harness) }
        #expect(try harness.agent.settings.setting("alert", appID: Sample.app.appID, event: "").text == "none")
    }
}
