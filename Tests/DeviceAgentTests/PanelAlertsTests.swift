// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
@testable import DeviceAgent
import LinuxDesktop
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks alerts that wait for an answer in the panel.
struct PanelAlertsTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    // MARK: Routing

    @Test func `an alert goes to the panel with its sound, and a banner to the notification server`() async throws {
        let (desk, panel, server) = try await PanelDesk.withServer(file)
        desk.receive("one", #","sound":"default""#)
        try await desk.wait(for: .shown)
        try await panel.wait(for: 1)
        #expect(server.shown.isEmpty)
        #expect(desk.sounds.played == [.standard])
        #expect(try desk.database.outboxLines().contains("1 shown"))
        try desk.database.choose(.alert, "banner", for: "org.example.Mail")
        desk.receive("two")
        try await desk.wait(for: .shown, .shown)
        #expect(server.shown.map(\.body) == ["two"] && panel.entries == [1])
    }

    @Test func `the status names the current presenter`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let desk = try PanelDesk(file, session)
        func says(_ presenter: String) async throws {
            try await session.run(until: "it is \(presenter)") {
                desk.agent.status(now: .unixEpoch).presenter == presenter
            }
        }
        try await says("none")
        let panel = try ScriptedPanel(session)
        try await says("panel")
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        try await says("desktop, panel")
        withExtendedLifetime((panel, server)) {}
    }

    @Test func `without a panel an alert goes to the notification server`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let desk = try PanelDesk(file, session)
        desk.receive("one")
        try await desk.wait(for: .shown)
        #expect(server.shown.map(\.body) == ["one"] && desk.panel.entries == [])
    }

    @Test func `a banner that cannot be shown does not delay the panel's alerts`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let panel = try ScriptedPanel(session)
        let desk = try PanelDesk(file, session)
        try desk.database.choose(.alert, "banner", for: "org.example.Mail")
        desk.receive("banner")
        try desk.database.choose(.alert, "alert", for: "org.example.Mail")
        desk.receive("alert")
        try await desk.wait(for: .waiting, .shown)
        try await panel.wait(for: 2)
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        try desk.database.choose(.alert, "banner", for: "org.example.Mail")
        try await desk.wait(for: .shown, .shown)
        #expect(server.shown.map(\.body) == ["banner"])
    }

    @Test func `an alert counts as shown when the panel, and no other program, has read it`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        panel.asks = false
        desk.receive("one")
        let stranger = try RunningProcess(
            RepositoryPaths.tool("busctl"),
            [
                "--address=\(desk.session.bus.address)", "call", AgentInterface.name, AgentInterface.path,
                AgentInterface.name, "ListAlerts",
            ])
        try await desk.session.run(until: "another program has the list") { stranger.exit == .code(0) }
        #expect(stranger.output.contains("Example Mail"))
        let states = try desk.states()
        #expect(states == [.claimed])
        panel.list()
        try await desk.wait(for: .shown)
    }

    @Test func `the panel may read alerts on another connection than the one with its name`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        panel.asks = false
        let other = try ScriptedPanel(desk.session, name: "org.example.Other")
        desk.receive("one")
        try await desk.session.run(until: "the panel was called") { panel.callCount == 1 }
        #expect(try desk.states() == [.claimed])
        try await other.wait(for: 1)
        try await desk.wait(for: .shown)
        withExtendedLifetime(panel) {}
    }

    // MARK: The list

    @Test func `the list has all data that a window needs`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        var mail = Sample.app
        mail.icon = "mail"
        mail.manifestText = Array(
            #"{"categories":[{"id":"mail","actions":[{"id":"reply","title":"Reply","text":true}]}]}"#.utf8)
        try desk.database.apps.save(mail)
        desk.receive("one", #","category":"mail","thread-id":"t""#)
        desk.receive("two", #","thread-id":"t""#)
        try await panel.wait(for: 1, 2)
        let alerts = try #require(panel.lists.last)
        let texts = ["app_id", "app_name", "icon", "title", "subtitle", "body", "view_label"]
        #expect(
            texts.map { alerts[0][key: $0]?.stringValue }
                == ["org.example.Mail", "Example Mail", "mail", "", "", "one", "View"])
        let action = try #require(alerts[0][key: "actions"]?.arrayValue?.first)
        #expect(action[key: "id"]?.stringValue == "reply" && action[key: "title"]?.stringValue == "Reply")
        #expect(action[key: "takes_text"]?.boolValue == true)
        #expect(alerts[1][key: "actions"]?.arrayValue == [])
        #expect(alerts[0][key: "received_at"]?.integerValue ?? 0 > 1_600_000_000_000)
        #expect(alerts.map { $0[key: "earlier"]?.integerValue } == [0, 1])
    }

    @Test func `an alert with a single OK has no label for View, and cannot be viewed`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        #expect(
            desk.agent.link.streamReceived([
                .notification(
                    Sample.notification(1, payload: #"{"aps":{"alert":{"body":"x","action-loc-key":null}}}"#))
            ]))
        try await panel.wait(for: 1)
        #expect(panel.lists.last?.first?[key: "view_label"]?.stringValue == "")
        #expect(try await panel.answer(1, "view") == "BadValue")
        #expect(try await panel.answer(1, "close") == "")
        #expect(try desk.states() == [.closed])
    }

    @Test(.tags(.slow)) func `twenty alerts wait, oldest first, and are answered one after the other`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        for number in 1...20 { desk.receive("text \(number)") }
        try await desk.session.run(until: "all are shown", evidence: { "\(panel.entries)" }) {
            try desk.states().allSatisfy { $0 == .shown }
        }
        for number in 1...20 as ClosedRange<Int64> {
            panel.list()
            try await desk.session.run(until: "\(number) is first") { panel.entries == Array(number...20) }
            #expect(try await panel.answer(number, number % 2 == 0 ? "view" : "close") == "")
        }
        try await panel.wait()
        #expect(desk.app.calls.count == 10)
        #expect(try desk.states() == (1...20).map { $0 % 2 == 0 ? .viewed : .closed })
    }

    @Test func `alerts over the limit go to the notification server, and none leaves the panel`() async throws {
        let (desk, panel, server) = try await PanelDesk.withServer(file)
        let presenter = StyledPresenter(panel: desk.panel, desktop: try desk.session.presenter())
        try await desk.session.run(until: "there is a notification server") { presenter.isAvailable(for: .banner) }
        for number in 1...(Int64(Limits.panelAlertCountMax) + 1) {
            var isShown = false
            presenter.present(Alert(entry: EntryID(rawValue: number), appID: "a", appName: "A")) { _ in isShown = true }
            panel.list()
            try await desk.session.run(until: "\(number) is handed over") { isShown }
        }
        #expect(desk.panel.entries.map(\.rawValue) == Array(1...Int64(Limits.panelAlertCountMax)))
        #expect(server.shown.count == 1)
        #expect(!desk.panel.hasRoom)
        desk.panel.answered([1])
        #expect(desk.panel.hasRoom)
    }

    @Test func `a newer alert with the same collapse ID replaces the older one`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        desk.receive("old", collapseID: "x")
        desk.receive("other")
        try await panel.wait(for: 1, 2)
        desk.receive("new", collapseID: "x")
        try await panel.wait(for: 3, 2)
        try await desk.wait(for: .shown, .shown, .shown)
        #expect(try desk.database.alerts.unanswered().map(\.entry) == [2, 3])
    }

    @Test func `an alert is answered once, even while a newer one replaces it`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        try desk.database.apps.save(mail)
        desk.receive("old", #","category":"mail""#, collapseID: "x")
        try await panel.wait(for: 1)
        desk.receive("new", #","category":"mail""#, collapseID: "x")
        try await panel.wait(for: 2)
        #expect(try await panel.answer(1, "action", action: "gone") == "BadValue")
        #expect(try await panel.answer(1, "action", action: "reply", text: "Yes") == "")
        #expect(try await panel.answer(1, "action", action: "reply", text: "Yes") == "UnknownEntry")
        #expect(desk.app.calls == ["act reply Yes"])
        try await desk.wait(for: .closed, .shown)
        try await panel.wait(for: 2)
    }

    @Test func `a newer banner with the same collapse ID removes the alert`() async throws {
        let (desk, panel, server) = try await PanelDesk.withServer(file)
        desk.receive("old", collapseID: "x")
        try await panel.wait(for: 1)
        try desk.database.choose(.alert, "banner", for: "org.example.Mail")
        desk.receive("new", collapseID: "x")
        try await panel.wait()
        try desk.database.choose(.alert, "alert", for: "org.example.Mail")
        desk.receive("newest", collapseID: "x")
        try await panel.wait(for: 3)
        try await desk.session.run(until: "the banner is gone") { server.closed == [1] }
    }

    @Test func `alerts that look the same are shown as one, and the answer applies to all`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        for text in ["same", "other", "same"] { desk.receive(text) }
        try await desk.wait(for: .shown, .shown, .shown)
        try await panel.wait(for: 1, 2)
        #expect(try await panel.answer(1, "view", token: "token") == "")
        #expect(desk.app.calls == ["open - - token"])
        #expect(try desk.states() == [.viewed, .shown, .viewed])
        #expect(try desk.database.outboxLines().suffix(2) == ["1 viewed", "3 viewed"])
        try await panel.wait(for: 2)
    }

    @Test func `an alert that ends elsewhere leaves the list, and the panel is notified`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        for text in ["one", "two"] { desk.receive(text) }
        try await panel.wait(for: 1, 2)
        let count = panel.changeCount
        try desk.agent.inbox.remove(1)
        try await desk.session.run(until: "the panel hears of it") { panel.changeCount > count }
        try await panel.wait(for: 2)
        #expect(try desk.agent.inbox.clear(appID: nil) == 1)
        try await panel.wait()
        #expect(try desk.database.alerts.unanswered().isEmpty)
    }

    @Test(arguments: [("master", nil), ("do-not-disturb", nil), ("alert", "org.example.Mail")] as [(String, AppID?)])
    func `an alert that the user switches off leaves the panel and stays in the inbox`(name: String, app: AppID?)
        async throws
    {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        for text in ["one", "two"] { desk.receive(text) }
        try await panel.wait(for: 1, 2)
        let count = panel.changeCount
        try desk.agent.settings.set(name, appID: app, event: "", to: ["alert": "none", "master": "off"][name] ?? "on")
        try await desk.session.run(until: "the panel hears of it") { panel.changeCount > count }
        try await panel.wait()
        #expect(try desk.states() == [.shown, .shown])
        #expect(try desk.database.alerts.unanswered().isEmpty)
        try desk.agent.settings.set(name, appID: app, event: "", to: ["alert": "alert", "master": "on"][name] ?? "off")
        desk.receive("three")
        try await panel.wait(for: 3)
    }

    @Test func `an alert that do-not-disturb permits stays in the panel`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        try desk.agent.settings.set("time-sensitive", appID: Sample.app.appID, event: "", to: "on")
        desk.receive("one", #","interruption-level":"time-sensitive""#)
        desk.receive("two")
        try await panel.wait(for: 1, 2)
        try desk.agent.settings.set("do-not-disturb", appID: nil, event: "", to: "on")
        try await panel.wait(for: 1)
    }

    @Test(arguments: [DesktopState(isQuiet: true), DesktopState(isRecording: true)])
    func `no window takes the keyboard while the desktop is quiet or a microphone is on`(state: DesktopState)
        async throws
    {
        let (desk, panel, server) = try await PanelDesk.withServer(file)
        try desk.agent.settings.set("time-sensitive", appID: Sample.app.appID, event: "", to: "on")
        desk.state = state
        desk.receive("meanwhile")
        try await desk.wait(for: .shown)
        #expect(server.shown.map(\.body) == ["meanwhile"])
        desk.receive("urgent", #","interruption-level":"time-sensitive""#)
        try await desk.wait(for: .shown, .shown)
        #expect(server.shown.count == (state.isRecording ? 2 : 1))
        desk.state = DesktopState()
        desk.receive("later")
        try await desk.wait(for: .shown, .shown, .shown)
        if state.isRecording { try await panel.wait(for: 3) } else { try await panel.wait(for: 2, 3) }
    }

    @Test func `an alert without another presenter is shown in the panel despite a recording`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let panel = try ScriptedPanel(session)
        let desk = try PanelDesk(file, session)
        desk.state.isRecording = true
        desk.receive("one")
        try await panel.wait(for: 1)
    }

    @Test func `texts are hidden only while the screen is locked`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        try desk.database.choose(.preview, "off", for: "org.example.Mail")
        desk.receive("secret")
        try await panel.wait(for: 1)
        desk.state.isLocked = true
        let count = panel.changeCount
        desk.agent.alerts.lockChanged()
        try await desk.session.run(until: "the panel hears of it") { panel.changeCount > count }
        try await panel.wait(for: 1)
        #expect(panel.lists.last?.first?[key: "body"]?.stringValue == "Notification")
        desk.state.isLocked = false
        try await panel.wait(for: 1)
        #expect(panel.lists.last?.first?[key: "body"]?.stringValue == "secret")
    }

    // MARK: Answers

    @Test(arguments: [("view", "open - - token", AgentStore.InboxEntry.State.viewed), ("close", "", .closed)])
    func `an answer counts once`(answer: String, call: String, state: AgentStore.InboxEntry.State) async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        desk.receive("one")
        try await panel.wait(for: 1)
        #expect(try await panel.answer(1, answer, token: "token") == "")
        #expect(try await panel.answer(1, answer, token: "token") == "UnknownEntry")
        #expect(desk.app.calls == (call.isEmpty ? [] : [call]))
        #expect(try desk.states() == [state])
        try await panel.wait()
    }

    @Test func `a button of the app is delivered with the typed text`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        try desk.database.apps.save(mail)
        desk.receive("one", #","category":"mail""#)
        try await panel.wait(for: 1)
        let tooLong = String(repeating: "x", count: Limits.replyByteCountMax + 1)
        #expect(try await panel.answer(1, "action", action: "gone") == "BadValue")
        #expect(try await panel.answer(1, "action", action: "reply", text: tooLong) == "BadValue")
        #expect(try await panel.answer(1, "action", action: "reply", text: "Yes") == "")
        #expect(desk.app.calls == ["act reply Yes"])
        #expect(try desk.states() == [.closed])
    }

    /// An app with a reply button.
    private var mail: RegisteredApp {
        var mail = Sample.app
        mail.manifestText = Array(
            #"{"categories":[{"id":"mail","actions":[{"id":"reply","title":"Reply","text":true}]}]}"#.utf8)
        return mail
    }

    // MARK: Opening

    @Test func `an entry can be opened repeatedly, and is marked as seen`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        desk.receive("one")
        try await panel.wait(for: 1)
        for _ in 1...2 { #expect(try await panel.call("OpenEntry", .int64(1), .string("token")) == "") }
        #expect(desk.app.calls == ["open - - token", "open - - token"])
        #expect(try desk.states() == [.viewed])
        #expect(try desk.agent.inbox.unreadCounts().isEmpty)
        try await panel.wait()
        desk.app.failure = .noDesktopFile(appID: "org.example.Mail")
        #expect(try await panel.call("OpenEntry", .int64(1), .string("")) == "AppNotInstalled")
    }

    @Test func `an app is opened without a notification`() async throws {
        let (desk, panel, _) = try await PanelDesk.withServer(file)
        #expect(try await panel.call("OpenApp", .string("org.example.Mail"), .string("a b")) == "")
        // A token with a space is invalid.
        #expect(desk.app.calls == ["launch -"])
        desk.app.failure = .failed("broken")
        #expect(try await panel.call("OpenApp", .string("org.example.Mail"), .string("")) == "NotOpened")
    }
}
