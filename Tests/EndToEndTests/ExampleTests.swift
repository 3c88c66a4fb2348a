// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Checks that the examples work as their READMEs say, with a real server and agent.
    struct ExampleTests {
        private static let examples = "\(RepositoryPaths.root)/examples"
        private static let notification = #"{"payload":{"aps":{"alert":{"body":"b"}},"note":"Paint"}}"#

        /// Calls the app on the bus with `gdbus`, as the agent does, and returns its answer.
        private func call(
            _ app: String, _ method: String, _ arguments: [String], on bus: DesktopBus
        ) async throws -> ProgramResult {
            let path = "/" + app.replacing(".", with: "/")
            let words = ["call", "--session", "--dest", app, "--object-path", path, "--method"]
            return try await RunningProcess.run(
                RepositoryPaths.tool("gdbus"), words + ["org.posthorn.App1.\(method)"] + arguments,
                environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        }

        @Test func `the app in Python registers itself and receives the agent's calls`() async throws {
            let stack = try await TestStack()
            try await stack.server.posthorn("app", "add", "org.example.Notes")
            let app = try RunningProcess(
                "/usr/bin/python3", ["\(Self.examples)/python/notes.py"], environment: stack.user.environment)
            let line = try await app.outputLine()
            #expect(line.contains(#"{"device_token": ""#), "\(app.transcript)")
            let settings = try await stack.user.posthorn("settings", "show", "org.example.Notes").output
            #expect(settings.contains("SHARED") && settings.contains("COMMENT"), "\(settings)")
            try await call("org.example.Notes", "Wake", [Self.notification], on: stack.bus).succeeded()
            let changed = try await call("org.example.Notes", "Filter", [Self.notification], on: stack.bus).succeeded()
            #expect(changed.output.contains("Note Paint"))
            let same = try await call(
                "org.example.Notes", "Filter", [#"{"payload":{"aps":{"alert":"b"}}}"#], on: stack.bus
            ).succeeded()
            #expect(same.output == "('',)\n")
            try await call("org.example.Notes", "Act", ["reply", "Thanks", Self.notification], on: stack.bus)
                .succeeded()
            #expect(try await call("org.example.Notes", "Wake", ["{"], on: stack.bus).exit != .code(0))
            try await eventually("the app says what it heard", evidence: { app.transcript }) {
                app.output.contains(#"{"woken_by": {"aps""#)
                    && app.output.contains(#"{"action": "reply", "text": "Thanks", "note": "Paint"}"#)
            }
            #expect(app.output.components(separatedBy: "device_token").count == 2, "told once: \(app.output)")
            let second = try await RunningProcess.run(
                "/usr/bin/python3", ["\(Self.examples)/python/notes.py"], environment: stack.user.environment)
            #expect(second.exit == .code(1) && second.errorOutput.contains("runs already"), "\(second)")
        }

        @Test func `an app in Python that is refused prints the reason`() async throws {
            let bus = try await DesktopBus()
            let user = try await DeviceUser(busAddress: bus.address)
            let result = try await RunningProcess.run(
                "/usr/bin/python3", ["\(Self.examples)/python/notes.py"], environment: user.environment)
            #expect(result.exit == .code(1))
            #expect(result.errorOutput == "notes.py: This device is not enrolled.\n")
        }

        @Test(arguments: [
            ("--port", "x", "--port 'x'"), ("--ca-file", "nowhere.pem", "--ca-file 'nowhere.pem'"),
            ("--key", "nowhere.p8", "--key 'nowhere.p8'"), ("payload", "{", "payload '{'"),
            ("--port", "1", "Could not connect to server"),
        ])
        func `the example back-end describes an error in one line`(
            option: String, value: String, said: String
        ) async throws {
            let files = try TemporaryDirectory()
            let key = try files.write("-", to: "key")
            var options = [
                "--host": "127.0.0.1", "--port": "2197", "--ca-file": "/etc/ssl/certs/ca-certificates.crt",
                "--key": key, "--key-id": "A", "--team-id": "B", "--topic": "t", "--token": "ab", "payload": "{}",
            ]
            options[option] = value
            let payload = options.removeValue(forKey: "payload") ?? ""
            let result = try await RunningProcess.run(
                RepositoryPaths.python,
                ["\(Self.examples)/send_with_aioapns.py"] + options.flatMap { [$0.key, $0.value] } + [payload])
            #expect(result.exit == .code(1) && result.errorOutput.contains(said), "\(result)")
            #expect(result.errorOutput.split(separator: "\n").count == 1, "\(result)")
        }

        @Test func `the script registers with its manifest, and unregisters`() async throws {
            let stack = try await TestStack()
            try await stack.server.posthorn("app", "add", "org.example.Backup")
            var environment = stack.user.environment
            environment["PATH"] = "\(RepositoryPaths.programs):/usr/bin:/bin"
            func script(_ word: String) async throws -> ProgramResult {
                try await RunningProcess.run("\(Self.examples)/shell/backup.sh", [word], environment: environment)
            }
            let token = try await script("setup").succeeded().output
            #expect(token.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
            #expect(try await script("settings").succeeded().output.contains("FAILED"))
            let sent = try await stack.provider.send(
                SentNotification(
                    token: String(token.dropLast()), payload: #"{"aps":{"alert":"3 files","category":"FAILED"}}"#,
                    topic: "org.example.Backup"))
            #expect(sent.status == 200)
            try await stack.user.waitForEntry("the news is there") { $0.body == "3 files" }
            try await script("remove").succeeded()
            #expect(try await script("settings").exit == .code(4))
            #expect(try await script("nonsense").exit == .code(2))
        }

        @Test func `the example app registers with its full manifest`() async throws {
            let screen = try await DesktopScreen()
            let german = screen.environment.merging(["LC_ALL": "de_DE.UTF-8", "GSK_RENDERER": "cairo"]) { $1 }
            let stack = try await TestStack(bus: screen.bus, environment: german)
            let (user, environment) = (stack.user, stack.user.environment)
            try await RunningProcess.run("/bin/sh", ["\(Self.examples)/mail/install.sh"], environment: environment)
                .succeeded()
            let log = user.files.path(of: "mail.log")
            let app = try RunningProcess(
                "\(user.files.path)/data/example-mail/example-mail", [],
                environment: environment.merging(["EXAMPLE_MAIL_LOG": log]) { $1 })
            try await eventually("the app has registered", evidence: { app.transcript }) {
                try await user.run(["settings", "show", TestStack.app]).output.contains("INVITATION")
            }
            try await checkCalls(on: screen.bus, log: log)
            let payload = #"{"aps":{"alert":{"title-loc-key":"MAIL_FROM","title-loc-args":["Anna"],"body":"Hallo"}}}"#
            _ = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
            try await user.waitForEntry("the mail is announced in German") { $0.title == "Mail von Anna" }
            let remains = try await RunningProcess.run(
                "/bin/sh", ["\(Self.examples)/mail/install.sh", "--uninstall"], environment: environment)
            try remains.succeeded()
            let left =
                FileManager.default.enumerator(atPath: "\(user.files.path)/data")?.compactMap { $0 as? String } ?? []
            #expect(left.filter { $0.contains("Mail.") || $0.contains("new-mail") }.isEmpty, "\(left)")
        }

        private func checkCalls(on bus: DesktopBus, log: String) async throws {
            let sealed = Data("The usual place".utf8).base64EncodedString()
            let notification = #"{"payload":{"aps":{"alert":{"title":"Lunch","body":"Sealed"}},"sealed":"\#(sealed)"}}"#
            let opened = try await call(TestStack.app, "Filter", [notification], on: bus).succeeded()
            #expect(opened.output.contains(#""title": "Lunch", "body": "The usual place""#), "\(opened.output)")
            #expect(
                try await call(TestStack.app, "Filter", [Self.notification], on: bus).succeeded().output == "('',)\n")
            let broken = notification.replacing(sealed, with: "%%%")
            #expect(try await call(TestStack.app, "Filter", [broken], on: bus).exit != .code(0))
            try await call(TestStack.app, "Wake", [Self.notification], on: bus).succeeded()
            try await call(TestStack.app, "Act", ["reply", "At noon", Self.notification], on: bus).succeeded()
            let called = readText(log).split(separator: "\n").map { $0.prefix(40) }
            #expect(called.count == 3, "\(called)")
            #expect(called.last?.hasPrefix(#"{"called":"Act","action":"reply""#) == true, "\(called)")
        }
    }
}
