// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import Foundation
import LinuxDesktop
import PushCore
import PushDBus
import TestSupport
import Testing

/// Opens real programs and real bus services, as View does.
struct DesktopAppLauncherTests {
    private let json = #"{"aps":{"alert":"$(touch /tmp/x) `id` \"ä\" %s"},"k":1}"#

    // MARK: Start by program

    @Test func `a program gets its arguments, the notification and the token, and runs once`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "Exec=/bin/sh \(home.recorder) --from \"a b\" %c %u")
        let session = try DesktopSession(await DesktopBus())
        let launcher = home.launcher(session)
        #expect(try await open("org.posthorn.Test", launcher, session, token: "token-1") == .success(()))
        let record = try await home.record(session)
        #expect(record["arguments"] == "--from|a b|App of Test;x|")
        #expect(record["POSTHORN_NOTIFICATION"] == json)
        #expect(record["XDG_ACTIVATION_TOKEN"] == "token-1")
        #expect(record["DESKTOP_STARTUP_ID"] == "token-1")
        #expect(record["HOME"] == home.files.path)
        #expect(record["NOTIFY_SOCKET"] == "")
        #expect(record["POSTHORN_AGENT_ENROLMENT_CODE"] == "")
        #expect(record["stdin"] == "/dev/null")
        #expect(record["session"] == record["process"])
        #expect(record["blocked"] == "0000000000000000")
        #expect(record["runs"] == "1")
    }

    @Test func `an earlier token is not passed to an app that gets no new one`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "Exec=/bin/sh \(home.recorder)\nPath=\(home.files.path)")
        let session = try DesktopSession(await DesktopBus())
        #expect(try await open("org.posthorn.Test", home.launcher(session), session) == .success(()))
        let record = try await home.record(session)
        #expect(record["XDG_ACTIVATION_TOKEN"] == "")
        #expect(record["DESKTOP_STARTUP_ID"] == "")
        #expect(record["directory"] == home.files.path)
        #expect(record["arguments"] == "")
    }

    @Test func `a program that ended leaves no zombie`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "Exec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(await DesktopBus())
        #expect(try await open("org.posthorn.Test", home.launcher(session), session) == .success(()))
        let process = try #require(try await home.record(session)["process"])
        try await session.run(until: "the program is gone") {
            !FileManager.default.fileExists(atPath: "/proc/\(process)/stat")
        }
    }

    @Test(arguments: ["Exec=/usr/bin/false", "Exec=/bin/sh -c \"exit 2\""])
    func `a program that fails after its start counts as opened`(line: String) async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", line)
        let session = try DesktopSession(await DesktopBus())
        #expect(try await open("org.posthorn.Test", home.launcher(session), session) == .success(()))
    }

    @Test func `an app for a terminal is opened in one if there is one`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "Exec=/usr/bin/true --from \"a b\"\nTerminal=true")
        let session = try DesktopSession(await DesktopBus())
        let without = try await open("org.posthorn.Test", home.launcher(session, searchPath: "/nonexistent"), session)
        #expect(
            without == .failure(.needsTerminal(path: home.files.path(of: "applications/org.posthorn.Test.desktop"))))
        try home.files.makeDirectory("bin")
        try FileManager.default.copyItem(
            atPath: home.recorder, toPath: home.files.path(of: "bin/xdg-terminal-exec"))
        let launcher = home.launcher(session, searchPath: "\(home.files.path(of: "bin")):/usr/bin:/bin")
        // A fork of a parallel test may keep a file open for a while that this process has just written.
        var result: Result<Void, AppOpenError> = .failure(.failed(""))
        for _ in 0..<100 {
            result = try await open("org.posthorn.Test", launcher, session)
            if case .success = result { break }
        }
        #expect(result == .success(()))
        #expect(try await home.record(session)["arguments"] == "/usr/bin/true|--from|a b|")
    }

    @Test(
        arguments: [
            ("org.posthorn.Missing", "", "noDesktopFile"), ("../../etc/passwd", "", "noDesktopFile"),
            ("a", "", "notLaunchable"), ("a", "Exec=sh -c 'id'", "unreadableExec"),
            ("a", "Exec=/nonexistent/program", "noProgram"), ("a", "Exec=posthorn-nonexistent", "noProgram"),
            ("a", "Exec=/etc/passwd", "noProgram"), ("a", "Exec=/tmp", "noProgram"),
            ("a", "Exec=relative/program", "noProgram"), ("a", "Exec=sh -c 'id'\nTerminal=true", "unreadableExec"),
            ("a", "Exec=/usr/bin/true\nPath=/nonexistent", "noDirectory"),
            ("a", "Exec=/usr/bin/true\nPath=/etc/passwd", "noDirectory"),
            ("a", "Exec=/usr/bin/env posthorn-nonexistent", "status 127"),
            ("a", "Exec=/usr/bin/env /tmp", "status 126"),
            ("a", "Exec=NOT-A-PROGRAM", "Exec format error"),
        ] as [(AppID, String, String)])
    func `an app that cannot be opened gives the reason`(appID: AppID, lines: String, reason: String) async throws {
        let home = try AppFolder()
        // Another process makes the files. A fork of a parallel test may hold this process's files open for writing.
        let bytes = try home.files.write("\0", to: "bytes")
        let empty = home.files.path(of: "no-program")
        try await RunningProcess.run("/usr/bin/install", ["-m", "700", bytes, empty]).succeeded()
        if !lines.isEmpty || appID == "a" {
            try home.addApp("a", lines.replacingOccurrences(of: "NOT-A-PROGRAM", with: empty))
        }
        let session = try DesktopSession(await DesktopBus())
        let result = try await open(appID, home.launcher(session), session)
        guard case .failure(let error) = result else {
            Issue.record("\(appID) was opened")
            return
        }
        #expect("\(error)".contains(reason))
    }

    @Test func `a notification over the size limit of an environment variable is refused`() async throws {
        let home = try AppFolder()
        try home.addApp("a", "Exec=/usr/bin/true")
        let session = try DesktopSession(await DesktopBus())
        let launcher = home.launcher(session)
        for (count, isOpened) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
            var result: Result<Void, AppOpenError>?
            launcher.open(
                appID: "a", notification: Array(repeating: 0x20, count: count), action: nil, activationToken: nil
            ) { result = $0 }
            let answer = try await session.value("opening has a result") { result }
            #expect((answer == .success(())) == isOpened)
        }
    }

    // MARK: Start by D-Bus

    @Test func `an activatable app is started by the bus and gets the action once`() async throws {
        let bus = try await DesktopBus()
        try await bus.addService(
            "org.posthorn.Some-App",
            command: "\(RepositoryPaths.tool("dbus-test-tool")) echo --name=org.posthorn.Some-App")
        let home = try AppFolder()
        try home.addApp("org.posthorn.Some-App", "DBusActivatable=true\nExec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(bus)
        let monitor = try await bus.monitor("interface='org.freedesktop.Application'")
        let result = try await open("org.posthorn.Some-App", home.launcher(session), session, token: "token-1")
        #expect(result == .success(()))
        try await eventually("the monitor saw it") { monitor.output.contains("activation-token") }
        let calls = monitor.output.components(separatedBy: "method call").dropFirst()
        #expect(calls.count == 1)
        #expect(calls.first?.contains("path=/org/posthorn/Some_App;") == true)
        #expect(calls.first?.contains("member=ActivateAction") == true)
        #expect(home.files.read("record").isEmpty)
    }

    @Test func `an app that starts slowly gets the action once, and delays no other`() async throws {
        let bus = try await DesktopBus()
        let home = try AppFolder()
        let program = try home.files.write(
            """
            #!/bin/sh
            until [ -e '\(home.files.path(of: "go"))' ]; do sleep 0.05; done
            exec '\(RepositoryPaths.tool("dbus-test-tool"))' echo --name=org.posthorn.Slow
            """, to: "slow", permissions: 0o700)
        try await bus.addService("org.posthorn.Slow", command: program)
        try home.addApp("org.posthorn.Slow", "DBusActivatable=true\nExec=/bin/sh \(home.recorder)")
        try home.addApp("org.posthorn.Quick", "Exec=/bin/true")
        let session = try DesktopSession(bus)
        let monitor = try await bus.monitor("interface='org.freedesktop.Application'")
        let launcher = home.launcher(session)
        var slow: [Result<Void, AppOpenError>] = []
        launcher.open(
            appID: "org.posthorn.Slow", notification: Array(json.utf8), action: nil, activationToken: nil
        ) { slow.append($0) }
        #expect(try await open("org.posthorn.Quick", launcher, session) == .success(()))
        #expect(slow.isEmpty)
        try home.files.write("", to: "go")
        try await session.run(until: "the slow app answered") { !slow.isEmpty }
        #expect(slow.count == 1 && slow[0] == .success(()))
        try await eventually("the monitor saw it") { monitor.output.contains("view-notification") }
        #expect(monitor.output.components(separatedBy: "member=ActivateAction").count == 2)
        #expect(home.files.read("record").isEmpty)
    }

    @Test(arguments: [nil, "token-1"])
    func `an app on the bus gets action, notification and token`(token: String?) async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "DBusActivatable=true")
        let session = try DesktopSession(await DesktopBus())
        let app = try BusConnection(.address(session.bus.address))
        let driver = try BusDriver(loop: session.loop, connection: app)
        var calls: [IncomingCall] = []
        #expect(try app.requestName("org.posthorn.Test"))
        try app.serve(path: "/org/posthorn/Test", interface: "org.freedesktop.Application", introspection: "<node/>") {
            calls.append($0)
            return .success([])
        }
        #expect(try await open("org.posthorn.Test", home.launcher(session), session, token: token) == .success(()))
        driver.stop()
        let data: [(String, BusValue)] =
            token.map { [("activation-token", .string($0)), ("desktop-startup-id", .string($0))] } ?? []
        #expect(calls.map(\.member) == ["ActivateAction"])
        #expect(
            calls.first?.arguments == [
                .string("view-notification"), .array("v", [.variant(.string(json))]), .dictionary(data),
            ])
    }

    @Test(
        arguments: [
            "org.posthorn.Nobody", "nobusname", "org.7zip.App", "org.posthorn.", "org.posthorn.Failing",
            "org.posthorn.Other",
        ] as [AppID])
    func `an app that the bus cannot reach is started by its program`(appID: AppID) async throws {
        let bus = try await DesktopBus()
        try await bus.addService("org.posthorn.Failing", command: "/bin/false")
        let home = try AppFolder()
        try home.addApp(appID, "DBusActivatable=true\nExec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(bus)
        // This name is on the bus, but does not implement org.freedesktop.Application.
        let other = try BusConnection(.address(bus.address))
        let driver = try BusDriver(loop: session.loop, connection: other)
        #expect(try other.requestName("org.posthorn.Other"))
        #expect(try await open(appID, home.launcher(session), session) == .success(()))
        #expect(try await home.record(session)["POSTHORN_NOTIFICATION"] == json)
        driver.stop()
    }

    @Test func `an app that answers with an error of its own is not started a second time`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Test", "DBusActivatable=true\nExec=/bin/sh \(home.recorder)")
        let session = try DesktopSession(await DesktopBus())
        let app = try BusConnection(.address(session.bus.address))
        let driver = try BusDriver(loop: session.loop, connection: app)
        #expect(try app.requestName("org.posthorn.Test"))
        try app.serve(path: "/org/posthorn/Test", interface: "org.freedesktop.Application", introspection: "<node/>") {
            _ in .failure(BusError(name: "org.posthorn.Error.Busy", message: "busy"))
        }
        let result = try await open("org.posthorn.Test", home.launcher(session), session)
        driver.stop()
        #expect(result == .failure(.failed("org.posthorn.Error.Busy: busy")))
        #expect(home.files.read("record").isEmpty)
    }

    @Test func `an app that the bus cannot reach and that has no program is reported`() async throws {
        let home = try AppFolder()
        try home.addApp("org.posthorn.Nobody", "DBusActivatable=true")
        let session = try DesktopSession(await DesktopBus())
        let result = try await open("org.posthorn.Nobody", home.launcher(session), session)
        guard case .failure(.failed(let reason)) = result else {
            Issue.record("it was opened")
            return
        }
        #expect(reason.contains("ServiceUnknown"))
    }

    // MARK: Helpers

    private func open(
        _ appID: AppID, _ launcher: AppLauncher, _ session: DesktopSession, token: String? = nil
    ) async throws -> Result<Void, AppOpenError> {
        var results: [Result<Void, AppOpenError>] = []
        launcher.open(
            appID: appID, notification: Array(json.utf8), action: nil, activationToken: token
        ) { results.append($0) }
        let result = try await session.value("opening \(appID) has a result") { results.first }
        #expect(results.count == 1)
        return result
    }
}

/// A user's data directory with apps in it, and a program that records how it was started.
struct AppFolder {
    let files: TemporaryDirectory
    let recorder: String

    init() throws {
        files = try TemporaryDirectory()
        try files.makeDirectory("applications")
        let record = files.path(of: "record")
        recorder = try files.write(
            """
            #!/bin/sh
            echo run >> '\(record).runs'
            {
                printf 'arguments='; for argument; do printf '%s|' "$argument"; done; echo
                for name in POSTHORN_NOTIFICATION POSTHORN_ACTION POSTHORN_TEXT XDG_ACTIVATION_TOKEN DESKTOP_STARTUP_ID HOME NOTIFY_SOCKET \
                        POSTHORN_AGENT_ENROLMENT_CODE; do
                    echo "$name=$(printenv "$name")"
                done
                echo "stdin=$(readlink "/proc/$$/fd/0")"
                echo "process=$$"
                echo "session=$(cut -d ' ' -f 6 "/proc/$$/stat")"
                echo "blocked=$(sed -n 's/^SigBlk:.//p' "/proc/$$/status")"
                echo "directory=$(pwd)"
                echo "runs=$(wc -l < '\(record).runs')"
            } > '\(record).new'
            mv '\(record).new' '\(record)'
            """, to: "recorder", permissions: 0o700)
    }

    func addApp(_ id: AppID, _ lines: String) throws {
        try files.write(
            "[Desktop Entry]\nType=Application\nName=App of Test;x\n\(lines)\n", to: "applications/\(id).desktop")
    }

    func launcher(_ session: DesktopSession, searchPath: String = "/usr/bin:/bin") -> AppLauncher {
        AppLauncher(
            connection: session.connection, loop: session.loop,
            environment: [
                "XDG_DATA_HOME": files.path, "XDG_DATA_DIRS": "/nonexistent", "HOME": files.path,
                "PATH": searchPath, "POSTHORN_AGENT_ENROLMENT_CODE": "x", "NOTIFY_SOCKET": "/run/notify",
                "XDG_ACTIVATION_TOKEN": "stale",
                "DESKTOP_STARTUP_ID": "stale",
            ])
    }

    /// Waits for the recorder's output and returns it.
    func record(_ session: DesktopSession) async throws -> [String: String] {
        try await session.run(until: "the program has written its record") { !files.read("record").isEmpty }
        var record: [String: String] = [:]
        for line in files.read("record").split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            record[String(line[..<equals])] = String(line[line.index(after: equals)...])
        }
        return record
    }
}

/// Returns whether two results are equal.
private func == (left: Result<Void, AppOpenError>, right: Result<Void, AppOpenError>) -> Bool {
    switch (left, right) {
    case (.success, .success): true
    case (.failure(let left), .failure(let right)): left == right
    case (.success, .failure), (.failure, .success): false
    }
}
