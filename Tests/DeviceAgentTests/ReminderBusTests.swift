// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import LoopTestSupport
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks reminders and mutes over the bus.
struct ReminderBusTests {
    private let setup: ServiceSetup

    init() async throws { setup = try await ServiceSetup() }

    @Test func `a reminder is set, listed and canceled over the bus, and a bad time is refused`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        _ = try await service.call("Register", .string("org.example.Mail"), .dictionary([])).get()
        try await setup.server.push(1, payload: #"{"aps":{"alert":"Lunch"}}"#)
        try await service.harness.loop.run("it arrived") { service.signals.contains("NotificationArrived ") }
        let time = Timestamp.now.unixSeconds + 3600
        service.signals = []
        _ = try await service.call("RemindEntry", .int64(1), .int64(time)).get()
        try await service.harness.loop.run("clients hear of it") { service.signals.contains("InboxChanged ") }
        for (method, argument) in [("ListInbox", BusValue.uint32(1)), ("GetInboxEntry", .int64(1))] {
            let answer = try await service.call(method, argument).get().first
            let entry = method == "ListInbox" ? answer?.arrayValue?.first : answer
            #expect(entry?[key: "remind_at"]?.integerValue == time)
            #expect(entry?[key: "state"]?.stringValue == "closed" && entry?[key: "read"]?.boolValue == true)
        }
        #expect(try await service.refusal("RemindEntry", [.int64(1), .int64(7)]) == "BadValue")
        #expect(try await service.refusal("RemindEntry", [.int64(2), .int64(time)]) == "UnknownEntry")
        #expect(try await service.refusal("RemindEntry", [.int64(1)]) == "InvalidArguments")
        _ = try await service.call("RemindEntry", .int64(1), .int64(0)).get()
        let entry = try await service.call("GetInboxEntry", .int64(1)).get().first
        #expect(entry?[key: "remind_at"]?.integerValue == 0)
    }

    @Test func `a mute must end in the future, and is off after its end`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let app = "org.example.Mail"
        _ = try await service.call("Register", .string(app), .dictionary([])).get()
        let past = try await service.set(app, "muted", "until 7")
        guard case .failure(let error) = past else { throw NeverHappened(what: "the past is refused") }
        #expect(error.name.hasSuffix("BadValue") && error.message.contains("in the past"))
        let value = "until \(Timestamp.now.unixSeconds + 3600)"
        _ = try await service.set(app, "muted", value).get()
        #expect(try await muted(service) == [value, value])
        try service.harness.database.choose(.muted, "until 7", for: AppID(app))
        #expect(try await muted(service) == ["off", "off"])
    }

    /// Returns the value of the app's setting `muted`, from both methods that return settings.
    private func muted(_ service: ServiceHarness) async throws -> [String?] {
        let app = BusValue.string("org.example.Mail")
        let one = try await service.call("GetSetting", app, .string(""), .string("muted")).get().first?.stringValue
        let all = try await service.call("ListSettings", app).get().first?.arrayValue ?? []
        return [one, all.first { $0[key: "name"]?.stringValue == "muted" }?[key: "value"]?.stringValue]
    }
}

/// Checks reminders and mutes of alerts in the panel.
struct ReminderPanelTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    @Test func `a reminder closes the alert and its equal, and the alert returns to the panel at its time`()
        async throws
    {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        for text in ["one", "two", "one"] { desk.receive(text) }
        try await panel.wait(for: 1, 2)
        try desk.agent.reminders.remind(of: 1, at: .now.advanced(bySeconds: 1))
        try await panel.wait(for: 2)
        #expect(try desk.states() == [.closed, .shown, .closed])
        try await panel.wait(for: 2, 1)
        #expect(try desk.states() == [.shown, .shown, .closed])
    }

    @Test func `a muted app's alerts leave the panel, and new ones are suppressed`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        desk.receive("one")
        try await panel.wait(for: 1)
        let end = Timestamp.now.advanced(bySeconds: 3600).unixSeconds
        try desk.agent.settings.set("muted", appID: Sample.app.appID, event: "", to: "until \(end)")
        try await panel.wait()
        desk.receive("two", #","interruption-level":"time-sensitive""#)
        try await desk.wait(for: .shown, .suppressed)
        #expect(try desk.database.inbox.entry(2)?.reason == "app-muted")
        try desk.agent.settings.set("muted", appID: Sample.app.appID, event: "", to: "off")
        desk.receive("three")
        try await panel.wait(for: 3)
    }
}
