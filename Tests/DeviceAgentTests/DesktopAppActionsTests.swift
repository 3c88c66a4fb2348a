// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import Foundation
import LinuxDesktop
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks the calls and environment variables by which real programs and bus services receive buttons.
struct DesktopAppActionsTests {
    private let json = #"{"title":"T"}"#
    private let action = ChosenAction(id: "reply", text: "$(id) \"ä\"")

    @Test func `a button that opens the app is in its environment`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "Exec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(await DesktopBus())
        var isOpened = false
        let launcher = home.launcher(session)
        launcher.open(appID: "org.posthorn.Test", notification: Array(json.utf8), action: action, activationToken: "t")
        {
            isOpened = (try? $0.get()) != nil
        }
        let record = try await home.record(session)
        try await session.run(until: "the app counts as opened") { isOpened }
        #expect(record["POSTHORN_ACTION"] == "reply")
        #expect(record["POSTHORN_TEXT"] == action.text)
        #expect(record["XDG_ACTIVATION_TOKEN"] == "t")
        #expect(record["runs"] == "1")
    }

    @Test func `an app on the bus receives a button through Act`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Some-App", "Exec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(await DesktopBus())
        let app = try ScriptedApp("org.posthorn.Some-App", on: session) { _ in .success([]) }
        #expect(try await act("org.posthorn.Some-App", home, session) == nil)
        #expect(app.calls.map(\.member) == ["Act"])
        #expect(app.calls[0].path == "/org/posthorn/Some_App")
        #expect(app.calls[0].arguments == [.string("reply"), .string(action.text ?? ""), .string(json)])
        #expect(home.files.read("record").isEmpty)
    }

    @Test func `an app that the bus starts receives a button once`() async throws {
        let bus = try await DesktopBus()
        try await bus.addService(
            "org.posthorn.Test", command: "\(RepositoryPaths.tool("dbus-test-tool")) echo --name=org.posthorn.Test")
        let home = try AppFolder()
        let session = try DesktopSession(bus)
        let monitor = try await bus.monitor("interface='org.posthorn.App1'")
        #expect(try await act("org.posthorn.Test", home, session) == nil)
        try await eventually("the monitor saw it") { monitor.output.contains("string \"reply\"") }
        #expect(monitor.output.components(separatedBy: "member=Act").count == 2)
    }

    @Test(arguments: ["org.posthorn.Nobody", "nobusname", "org.posthorn.Failing"] as [AppID])
    func `an app without D-Bus gets the button in its environment`(appID: AppID) async throws {
        let bus = try await DesktopBus()
        try await bus.addService("org.posthorn.Failing", command: "/bin/false")
        let home = try AppFolder()
        try home.addApp(appID, "Exec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(bus)
        #expect(try await act(appID, home, session) == nil)
        let record = try await home.record(session)
        #expect(record["POSTHORN_ACTION"] == "reply")
        #expect(record["POSTHORN_TEXT"] == action.text)
        #expect(record["POSTHORN_NOTIFICATION"] == json)
        #expect(record["XDG_ACTIVATION_TOKEN"] == "")
    }

    @Test func `an app that refuses or is missing is reported as such`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "Exec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(await DesktopBus())
        let app = try ScriptedApp("org.posthorn.Test", on: session) { _ in
            .failure(BusError(name: "org.posthorn.Error.Busy", message: "busy"))
        }
        #expect(try await act("org.posthorn.Test", home, session) == .failed("org.posthorn.Error.Busy: busy"))
        #expect(home.files.read("record").isEmpty)
        withExtendedLifetime(app) {}
        let missing = try await act("org.posthorn.Missing", home, session)
        #expect(missing == .noDesktopFile(appID: "org.posthorn.Missing"))
    }

    @Test func `an app on the bus is woken through Wake, and no program is started for others`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Nobody", "Exec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(await DesktopBus())
        let app = try ScriptedApp("org.posthorn.Test", on: session) { _ in .success([]) }
        #expect(try await wake("org.posthorn.Test", home, session) == nil)
        #expect(app.calls.map(\.member) == ["Wake"])
        #expect(app.calls[0].arguments == [.string(json)])
        for (appID, reason) in [
            ("org.posthorn.Nobody", "it does not serve org.posthorn.App1 on D-Bus"),
            ("nobusname", "'nobusname' cannot be a name on D-Bus"),
        ] as [(AppID, String)] {
            #expect(try await wake(appID, home, session) == .failed(reason))
        }
        #expect(home.files.read("record").isEmpty)
    }

    private func wake(_ appID: AppID, _ home: AppFolder, _ session: DesktopSession) async throws -> AppOpenError? {
        var results: [Result<Void, AppOpenError>] = []
        let launcher = home.launcher(session)
        launcher.wake(appID: appID, notification: Array(json.utf8)) { results.append($0) }
        let result = try await session.value("waking \(appID) has a result") { results.first }
        guard case .failure(let error) = result else { return nil }
        return error
    }

    private func act(_ appID: AppID, _ home: AppFolder, _ session: DesktopSession) async throws -> AppOpenError? {
        var results: [Result<Void, AppOpenError>] = []
        let launcher = home.launcher(session)
        launcher.act(appID: appID, notification: Array(json.utf8), action: action) { results.append($0) }
        let result = try await session.value("the button of \(appID) has a result") { results.first }
        #expect(results.count == 1)
        guard case .failure(let error) = result else { return nil }
        return error
    }
}

/// An app on the bus that answers `org.posthorn.App1` as a test says.
final class ScriptedApp {
    private(set) var calls: [IncomingCall] = []
    private let connection: BusConnection
    private let driver: BusDriver

    init(
        _ busName: String, on session: DesktopSession,
        answer: @escaping (IncomingCall) -> Result<[BusValue], BusError>
    ) throws {
        connection = try BusConnection(.address(session.bus.address))
        driver = try BusDriver(loop: session.loop, connection: connection)
        let path = "/" + String(busName.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 })
        try connection.serve(path: path, interface: "org.posthorn.App1", introspection: "<node/>") {
            [weak self] call in
            self?.calls.append(call)
            return answer(call)
        }
        _ = try connection.requestName(busName)
    }
}
