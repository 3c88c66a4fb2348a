// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks filters that the agent calls over D-Bus.
struct DesktopAppFiltersTests {
    private let json = #"{"payload":{"aps":{"alert":"Hello"}}}"#

    private func filter(
        _ session: DesktopSession, _ appID: AppID = "org.posthorn.Test", timeLimit: Duration = .seconds(60)
    ) async throws -> Result<String, AppFilterError> {
        let filters = AppFilters(
            connection: session.connection, loop: session.loop, environment: [:], timeLimit: timeLimit)
        var results: [Result<[UInt8], AppFilterError>] = []
        filters.filter(appID: appID, by: .bus, notification: Array(json.utf8)) { results.append($0) }
        #expect(results.isEmpty)
        let result = try await session.value("the filter is answered") { results.first }
        #expect(results.count == 1)
        return result.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("{}", Result<String, AppFilterError>.success("{}")), ("", .success("")),
        (
            String(repeating: "x", count: 64 * 1024 + 1),
            .failure(AppFilterError("the filter wrote more than 65536 bytes"))
        ),
    ])
    func `the payload from an app on the bus is used`(
        answer: String, expected: Result<String, AppFilterError>
    ) async throws {
        let session = try DesktopSession(await DesktopBus())
        let app = try ScriptedApp("org.posthorn.Test", on: session) { _ in .success([.string(answer)]) }
        #expect(try await filter(session) == expected)
        #expect(app.calls.map(\.member) == ["Filter"])
        #expect(app.calls[0].arguments == [.string(json)])
    }

    @Test func `an app that refuses, answers wrongly, hangs or is missing changes nothing`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let number = try ScriptedApp("org.posthorn.Number", on: session) { _ in .success([.int32(1)]) }
        let wrong = AppFilterError("the filter must return one string")
        #expect(try await filter(session, "org.posthorn.Number") == .failure(wrong))
        let silent = try BusConnection(.address(session.bus.address))
        _ = try silent.requestName("org.posthorn.Silent")
        for (appID, words) in [
            ("org.posthorn.Silent", "the filter failed: "), ("org.posthorn.Nobody", "ServiceUnknown"),
            ("nobusname", "cannot be called"),
        ] as [(AppID, String)] {
            let timeLimit: Duration = appID == "org.posthorn.Silent" ? .milliseconds(300) : .seconds(60)
            guard case .failure(let error) = try await filter(session, appID, timeLimit: timeLimit) else {
                Issue.record("\(appID) answered")
                continue
            }
            #expect(error.message.contains(words))
        }
        withExtendedLifetime((number, silent)) {}
    }

    @Test func `a real app that the bus starts filters and is woken`() async throws {
        let bus = try await DesktopBus()
        let script = try bus.files.write(Self.app, to: "app.py")
        try await bus.addService("org.posthorn.Real", command: "/usr/bin/python3 \(script) \(bus.files.path)")
        let session = try DesktopSession(bus)
        #expect(
            try await filter(session, "org.posthorn.Real")
                == .success(#"{"aps": {"alert": "HELLO"}}"#))
        let home = try AppFolder()
        var isWoken = false
        home.launcher(session).wake(appID: "org.posthorn.Real", notification: Array(json.utf8)) {
            isWoken = (try? $0.get()) != nil
        }
        try await session.run(until: "the app was woken") { isWoken }
        #expect(bus.files.read("woken") == json)
    }

    /// An app as its developer would write it.
    private static let app = """
        import json, sys
        from gi.repository import Gio, GLib

        XML = (
            '<node><interface name="org.posthorn.App1"><method name="Wake"><arg type="s" direction="in"/></method>'
            '<method name="Filter"><arg type="s" direction="in"/><arg type="s" direction="out"/></method>'
            "</interface></node>"
        )

        def called(connection, sender, path, interface, member, arguments, invocation):
            text = arguments.unpack()[0]
            if member == "Wake":
                with open(sys.argv[1] + "/woken", "w") as file:
                    file.write(text)
                return invocation.return_value(None)
            payload = json.loads(text)["payload"]
            payload["aps"]["alert"] = payload["aps"]["alert"].upper()
            invocation.return_value(GLib.Variant("(s)", (json.dumps(payload),)))

        def acquired(connection, name):
            interface = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
            connection.register_object("/org/posthorn/Real", interface, called, None, None)

        loop = GLib.MainLoop()
        Gio.bus_own_name(Gio.BusType.SESSION, "org.posthorn.Real", 0, acquired, None, lambda *_: loop.quit())
        loop.run()
        """
}
