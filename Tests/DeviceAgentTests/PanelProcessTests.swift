// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import Foundation
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks that no alert is lost when the panel or the agent ends.
struct PanelProcessTests {
    private let file: DatabaseFile
    private let folder: TemporaryDirectory

    init() throws {
        file = try DatabaseFile()
        folder = try TemporaryDirectory()
    }

    /// Starts a bus that can activate a panel: a real program, or a command that only fails.
    private func session(command: String? = nil) async throws -> DesktopSession {
        let bus = try await DesktopBus()
        let script = try folder.write(Self.program, to: "panel.py")
        try await bus.addService(
            PanelAlerts.busName, command: command ?? "/usr/bin/python3 \(script) \(folder.path)")
        return try DesktopSession(bus)
    }

    /// Returns the lists that the panel's processes received, one per line: the process and the entries.
    private func lists() -> [[String]] {
        folder.read("lists").split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    /// Waits until a process of the panel other than these has a list with these entries, and returns its ID.
    private func waitForPanel(
        _ session: DesktopSession, other: [String] = [], with entries: String...
    ) async throws -> String {
        try await session.value("a panel has \(entries)") {
            lists().last { !other.contains($0[0]) && Array($0.dropFirst()) == entries }?[0]
        }
    }

    @Test func `the bus starts the panel for an alert, and not before`() async throws {
        let session = try await session()
        let desk = try PanelDesk(file, session)
        #expect(lists().isEmpty)
        desk.receive("one")
        try await desk.wait(for: .shown)
        _ = try await waitForPanel(session, with: "1")
    }

    @Test func `a killed panel is started again, with the same alerts`() async throws {
        let session = try await session()
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let desk = try PanelDesk(file, session)
        for text in ["one", "two"] { desk.receive(text, #","sound":"default""#) }
        try await desk.wait(for: .shown, .shown)
        let first = try await waitForPanel(session, with: "1", "2")
        kill(try #require(Int32(first)), SIGKILL)
        let second = try await waitForPanel(session, other: [first], with: "1", "2")
        // Any answer shows that the panel works, so its failure count restarts.
        try desk.agent.alerts.answer(1, .dismissed)
        kill(try #require(Int32(second)), SIGTERM)
        _ = try await waitForPanel(session, other: [first, second], with: "2")
        #expect(server.shown.isEmpty && desk.sounds.played.count == 2)
        #expect(try desk.database.outboxLines().filter { $0.hasSuffix("shown") } == ["1 shown", "2 shown"])
    }

    @Test func `an alert that crashes the panel finally goes to the notification server`() async throws {
        let session = try await session()
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let desk = try PanelDesk(file, session)
        desk.receive("one")
        try await desk.wait(for: .shown)
        let first = try await waitForPanel(session, with: "1")
        try folder.write("", to: "crash")
        kill(try #require(Int32(first)), SIGKILL)
        try await session.run(until: "the server has it") { server.shown.map(\.body) == ["one"] }
        #expect(folder.read("starts").utf8.count == 1 + Limits.panelStartCountMax)
        // While the panel is not used, the next alert goes to the notification server immediately.
        desk.receive("two")
        try await desk.wait(for: .shown, .shown)
        #expect(server.shown.map(\.body) == ["one", "two"] && desk.panel.entries == [])
        #expect(folder.read("starts").utf8.count == 1 + Limits.panelStartCountMax)
        try server.say("ActionInvoked", 1, .string("close"))
        try await desk.wait(for: .closed, .shown)
    }

    @Test(arguments: ["/bin/false", "/nonexistent/panel"])
    func `a panel that cannot be started loses no alert`(command: String) async throws {
        let session = try await session(command: command)
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let desk = try PanelDesk(file, session)
        for text in ["one", "two"] { desk.receive(text) }
        try await desk.wait(for: .shown, .shown)
        #expect(server.shown.map(\.body) == ["one", "two"])
    }

    @Test func `a panel that ends before it asks is tried twice`() async throws {
        let session = try await session()
        try folder.write("", to: "crash")
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let desk = try PanelDesk(file, session)
        desk.receive("one", #","sound":"default""#)
        try await desk.wait(for: .shown)
        #expect(server.shown.map(\.body) == ["one"])
        #expect(folder.read("starts").utf8.count == 2)
    }

    @Test func `a panel that hangs gets no more alerts until its pause has ended`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let panel = try ScriptedPanel(session, asks: false)
        let desk = try PanelDesk(file, session, fetchTimeout: .milliseconds(200), failureBackoff: .milliseconds(1500))
        for text in ["one", "two"] { desk.receive(text) }
        try await desk.wait(for: .shown, .shown)
        #expect(server.shown.map(\.body) == ["one", "two"] && panel.callCount == 1)
        panel.asks = true
        try await session.run(until: "the panel is used again") { desk.panel.isAvailable }
        desk.receive("three")
        try await desk.wait(for: .shown, .shown, .shown)
        try await panel.wait(for: 3)
        #expect(server.shown.count == 2)
    }

    @Test func `an alert that was cleared before the panel asked is not shown`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let panel = try ScriptedPanel(session, asks: false)
        let desk = try PanelDesk(file, session)
        desk.receive("one")
        try desk.agent.inbox.remove(1)
        panel.asks = true
        desk.receive("two")
        try await panel.wait(for: 2)
        #expect(server.shown.isEmpty)
    }

    // MARK: The agent ends

    @Test func `a restarted agent passes its alerts once to a panel that still runs`() async throws {
        let later = try DesktopSession(await DesktopBus())
        let panel = try ScriptedPanel(later)
        do {
            let session = try DesktopSession(later.bus)
            session.earlier = later
            let desk = try PanelDesk(file, session)
            for text in ["one", "two"] { desk.receive(text) }
            try await desk.wait(for: .shown, .shown)
            panel.asks = false
            desk.receive("three")
            // The agent is killed while the panel has not asked for the third alert.
            try await desk.wait(for: .shown, .shown, .claimed)
        }
        panel.asks = true
        let server = try ScriptedNotificationServer(later.bus, loop: later.loop)
        let desk = try PanelDesk(file, later)
        try await later.run(until: "the panel has all") { panel.entries == [1, 2, 3] }
        try desk.agent.alerts.answer(2, .dismissed)
        #expect(try desk.states() == [.shown, .closed, .shown])
        #expect(server.shown.isEmpty && desk.sounds.played.isEmpty)
    }

    @Test(arguments: [true, false])
    func `alerts that waited at the end of the session return, unless do-not-disturb is on`(isOn: Bool) async throws {
        let later = try await session()
        let first: String
        do {
            let session = try DesktopSession(later.bus)
            let desk = try PanelDesk(file, session)
            desk.receive("one")
            try await desk.wait(for: .shown)
            first = try await waitForPanel(session, with: "1")
            try desk.database.choose(.master, isOn ? "on" : "off")
        }
        kill(try #require(Int32(first)), SIGKILL)
        try await later.run(until: "the panel is gone") {
            try later.connection.owner(of: PanelAlerts.busName) == nil
        }
        let desk = try PanelDesk(file, later)
        if isOn {
            _ = try await waitForPanel(later, other: [first], with: "1")
            try desk.agent.alerts.answer(1, .view(activationToken: nil))
            #expect(desk.app.calls == ["open - - -"])
        } else {
            try await later.run(until: "it is forgotten") { try desk.database.alerts.unanswered().isEmpty }
            #expect(desk.panel.entries == [])
        }
    }

    /// A panel without windows that records its starts and its lists.
    private static let program = """
        import os, sys
        import dbus, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib

        def add(name, text):
            with open(os.path.join(sys.argv[1], name), "a") as file:
                file.write(text)

        class Panel(dbus.service.Object):
            @dbus.service.method("org.freedesktop.Application", in_signature="sava{sv}")
            def ActivateAction(self, action, parameters, platform_data):
                if os.path.exists(os.path.join(sys.argv[1], "crash")):
                    os._exit(1)
                agent = bus.get_object("org.posthorn.Agent1", "/org/posthorn/Agent1", introspect=False)
                agent.ListAlerts(
                    dbus_interface="org.posthorn.Agent1", error_handler=print,
                    reply_handler=lambda alerts: add(
                        "lists", " ".join([str(os.getpid())] + [str(alert["entry"]) for alert in alerts]) + "\\n"))

        DBusGMainLoop(set_as_default=True)
        bus = dbus.SessionBus()
        add("starts", "x")
        panel = Panel(bus, "/org/posthorn/Panel")
        name = dbus.service.BusName("org.posthorn.Panel", bus)
        GLib.MainLoop().run()
        """
}
