// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import Foundation
@testable import LinuxDesktop
import PushAPI
import PushCore
import PushDBus
@testable import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs the agent's service on a real bus with the rules for callers, and calls it as callers of all kinds.
private final class CallerHarness {
    let bus: DesktopBus
    let files: TemporaryDirectory
    let harness: AgentHarness
    private let service: AgentService
    private let client: BusConnection
    private let drivers: [BusDriver]

    /// Starts the service.
    ///
    /// - Parameter processes: Whether the folder `proc` of `files` describes callers, instead of the system's `/proc`.
    /// - Throws: The error of the bus, the files or the agent.
    init(processes: Bool = false) async throws {
        bus = try await DesktopBus()
        files = try TemporaryDirectory()
        try files.makeDirectory("data/applications")
        try files.makeDirectory("tools")
        harness = try AgentHarness(in: files)
        let connection = try BusConnection(.address(bus.address))
        client = try BusConnection(.address(bus.address))
        drivers = try [connection, client].map { [loop = harness.loop] in try BusDriver(loop: loop, connection: $0) }
        let environment = ["XDG_DATA_HOME": files.path(of: "data"), "XDG_DATA_DIRS": "/nonexistent"]
        let rules = CallerRules(
            connection, loop: harness.loop, environment: environment, toolFolder: files.path(of: "tools"),
            processFolder: processes ? files.path(of: "proc") : "/proc")
        service = try AgentService(harness.agent, on: connection, deviceName: "test", callers: rules)
        try harness.agent.start()
        _ = try service.claimName()
    }

    /// Describes this process as one that runs a program with a command line.
    func pretend(_ program: String, _ line: [String], flatpak: String? = nil) throws {
        let process = "proc/\(getpid())"
        for folder in ["root", "cwd"] { try files.makeDirectory("\(process)/\(folder)") }
        try FileManager.default.createSymbolicLink(
            atPath: files.path(of: "\(process)/exe"), withDestinationPath: program)
        try files.write(line.map { "\($0)\0" }.joined(), to: "\(process)/cmdline")
        guard let flatpak else { return }
        let root = "\(process)/root"
        try files.write("[Application]\nname=\(flatpak)\n\n[Instance]\nname=no\n", to: "\(root)/.flatpak-info")
    }

    func addApp(_ appID: String, exec: String) throws {
        try files.write(
            "[Desktop Entry]\nType=Application\nName=App\nExec=\(exec)\n", to: "data/applications/\(appID).desktop")
    }

    /// Calls as this process and returns the last part of the error's name, or an empty text for success.
    func call(_ member: String, _ arguments: [BusValue]) async throws -> String {
        var result: Result<[BusValue], BusError>?
        client.send(AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments) { result = $0 }
        try await harness.loop.run("\(member) is answered") { result != nil }
        guard case .failure(let error) = result else { return "" }
        return error.name.split(separator: ".").last.map(String.init) ?? ""
    }

    /// Registers an app as this process and returns the last part of the error's name.
    ///
    /// - Parameters:
    ///   - appID: The app's ID.
    ///   - options: The options of the call, by name.
    /// - Returns: `NotEnrolled` when the rules permit the call.
    /// - Throws: `NeverHappened` when there is no answer.
    func register(_ appID: String, _ options: (String, String)...) async throws -> String {
        try await call("Register", [.string(appID), .dictionary(options.map { ($0.0, .string($0.1)) })])
    }

    /// Makes many calls as this process before reading any answer, and returns the last parts of the errors' names.
    func callAtOnce(_ count: Int, _ member: String, _ arguments: [BusValue]) async throws -> [String] {
        var answers: [String] = []
        for _ in 0..<count {
            client.send(AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments) { answer in
                guard case .failure(let error) = answer else { return answers.append("") }
                answers.append(error.name.split(separator: ".").last.map(String.init) ?? "")
            }
        }
        try await harness.loop.run("all are answered") { answers.count == count }
        return answers
    }

    func holdName(_ name: String) throws { #expect(try client.requestName(name)) }

    /// Runs a program on the bus to its end, and returns its output.
    func run(_ program: String, _ arguments: [String]) async throws -> String {
        let process = try RunningProcess(
            program, arguments, environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try await harness.loop.run("\(program) ends") { process.exit != nil }
        return process.output + process.errorOutput
    }

    /// Copies a program and returns the path of the copy.
    ///
    /// Another process makes the copy. A parallel test's fork could hold a file open that this process writes, and such
    /// a file cannot be executed.
    ///
    /// - Parameters:
    ///   - program: The program's path.
    ///   - path: The path of the copy in the test's directory.
    /// - Returns: The absolute path of the copy.
    /// - Throws: The error of the copying process.
    func copy(_ program: String, to path: String) async throws -> String {
        let copy = files.path(of: path)
        try await RunningProcess.run("/usr/bin/install", ["-m", "755", program, copy]).succeeded()
        return copy
    }
}

@Suite(.serialized) struct CallerRulesTests {
    private static let app = "org.example.Mail"

    /// Returns the arguments of `gdbus` for a call.
    private static func call(_ member: String, _ arguments: String...) -> [String] {
        [
            "call", "--session", "--timeout", "3600", "--dest", AgentInterface.name, "--object-path",
            AgentInterface.path,
            "--method",
            "\(AgentInterface.name).\(member)",
        ] + arguments
    }

    // MARK: Real programs

    @Test func `the installed tools may call everything, and the same program under another path may not`()
        async throws
    {
        let rules = try await CallerHarness()
        let original = try RepositoryPaths.tool("gdbus")
        let tool = try await rules.copy(original, to: "tools/posthorn")
        let setting = Self.call("SetSetting", "", "", "master", "off")
        let register = Self.call("Register", Self.app, "{}")
        let neighbour = try await rules.copy(original, to: "tools/python3")
        for (program, arguments, answer) in [
            (original, setting, "org.posthorn.Error.NotYours"), (tool, setting, "()"),
            (original, register, "org.posthorn.Error.NotYours"), (tool, register, "org.posthorn.Error.NotEnrolled"),
            (neighbour, setting, "org.posthorn.Error.NotYours"),
        ] {
            let output = try await rules.run(program, arguments)
            #expect(output.contains(answer), "\(program): \(output)")
        }
    }

    @Test func `any program of the user may read the badges, for example a status bar`() async throws {
        let rules = try await CallerHarness()
        let stranger = try RepositoryPaths.tool("gdbus")
        #expect(try await rules.run(stranger, Self.call("GetBadges")) == "(@a{su} {},)\n")
        let database = rules.harness.database
        for (number, name) in ["Mail", "Chat", "Quiet"].enumerated() {
            let app = RegisteredApp(
                appID: AppID("org.example.\(name)"), topic: TopicName("org.example.\(name)"), name: name, icon: nil,
                deviceToken: "")
            try database.apps.save(app)
            _ = try database.apps.setBadge(
                UInt32(number) * 3, of: app.appID, sequence: 1, acceptedAt: .unixEpoch)
        }
        try database.choices.set("off", for: .badge, appID: "org.example.Quiet", event: "")
        #expect(try await rules.run(stranger, Self.call("GetBadges")) == "({'org.example.Chat': uint32 3},)\n")
    }

    @Test func `a program acts for the app whose desktop file starts it, and for no other`() async throws {
        let rules = try await CallerHarness()
        let program = try await rules.copy(try RepositoryPaths.tool("gdbus"), to: "mail")
        try rules.addApp(Self.app, exec: "\(program) %U")
        try rules.addApp("org.example.Other", exec: "/usr/bin/env")
        let own = try await rules.run(program, Self.call("Register", Self.app, "{}"))
        #expect(own.contains("org.posthorn.Error.NotEnrolled"), "\(own)")
        let other = try await rules.run(program, Self.call("Register", "org.example.Other", "{}"))
        #expect(other.contains("org.posthorn.Error.NotYours") && other.contains("org.example.Other.desktop"))
    }

    @Test func `a script is identified by its file, not by its interpreter`() async throws {
        let rules = try await CallerHarness()
        let text = """
            #!/usr/bin/python3
            import gi
            from gi.repository import Gio, GLib
            try:
                Gio.bus_get_sync(Gio.BusType.SESSION).call_sync(
                    "org.posthorn.Agent1", "/org/posthorn/Agent1", "org.posthorn.Agent1", "Register",
                    GLib.Variant("(sa{sv})", ("org.example.Mail", {})), None, Gio.DBusCallFlags.NONE, 3600000, None)
            except GLib.Error as error:
                print(Gio.DBusError.get_remote_error(error))

            """
        let mail = try rules.files.write(text, to: "mail.py")
        let other = try rules.files.write(text, to: "other.py")
        try rules.addApp(Self.app, exec: try await rules.copy(mail, to: "mail"))
        let copy = rules.files.path(of: "mail")
        #expect(try await rules.run("/usr/bin/python3", [copy]) == "org.posthorn.Error.NotEnrolled\n")
        #expect(try await rules.run(copy, []) == "org.posthorn.Error.NotEnrolled\n")
        #expect(try await rules.run("/usr/bin/python3", [other]) == "org.posthorn.Error.NotYours\n")
        #expect(try await rules.run("/usr/bin/python3", [other, copy]) == "org.posthorn.Error.NotYours\n")
    }

    // MARK: Described programs

    @Test func `the owner of an app's bus name acts for that app`() async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend("/usr/bin/env", ["env"])
        #expect(try await rules.register(Self.app) == "NotYours")
        try rules.holdName(Self.app)
        #expect(try await rules.register(Self.app) == "NotEnrolled")
        #expect(try await rules.register("org.example.Other") == "NotYours")
        #expect(try await rules.register("../x") == "NotYours")
    }

    @Test(arguments: [
        ("org.example.Mail", "org.example.Mail", "NotEnrolled"),
        ("org.example.Mail", "org.example.Mail.Calendar", "NotEnrolled"),
        ("org.example.Mail", "org.example.Mailbox", "NotYours"), ("org.example.Mail", "org.example", "NotYours"),
        ("org.example.Other", "org.example.Mail", "NotYours"),
    ])
    func `a Flatpak acts for its own ID only, whatever name it owns and program it runs`(
        flatpak: String, appID: String, answer: String
    ) async throws {
        let rules = try await CallerHarness(processes: true)
        let tool = try rules.files.write("tool", to: "tools/posthorn")
        try rules.pretend(tool, ["posthorn"], flatpak: flatpak)
        try rules.addApp("org.example.Mailbox", exec: tool)
        try rules.holdName(appID)
        #expect(try await rules.register(appID) == answer)
        #expect(try await rules.call("ListApps", []) == "NotYours")
    }

    @Test func `a caller that cannot be identified may do nothing`() async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.holdName(Self.app)
        #expect(try await rules.register(Self.app) == "NotYours")
        #expect(try await rules.call("GetStatus", []) == "NotYours")
        // The description applies as soon as the system provides it.
        try rules.pretend("/usr/bin/env", ["env"])
        #expect(try await rules.call("GetStatus", []) == "")
    }

    static let lines: [(exec: String, line: [String], owns: Bool)] = [
        ("/usr/bin/env -u A tool", ["env", "-u", "A", "tool", "more"], true),
        ("/usr/bin/env -u A tool", ["env", "-u", "B", "tool"], false),
        ("/usr/bin/env -u A tool", ["env", "-u"], false), ("/usr/bin/env", ["env", "anything"], true),
        ("env %U", ["env"], true), ("/usr/bin/true", ["env"], false), ("/nonexistent/env", ["env"], false),
    ]

    @Test(arguments: lines)
    func `a program with arguments is identified by them too`(exec: String, line: [String], owns: Bool) async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.addApp(Self.app, exec: exec)
        try rules.pretend("/usr/bin/env", line)
        #expect(try await rules.register(Self.app) == (owns ? "NotEnrolled" : "NotYours"))
    }

    @Test(arguments: [
        ("#!/usr/bin/perl", ["perl"], true), ("#! /usr/bin/perl -w -T", ["perl", "-w -T"], true),
        ("#!/usr/bin/perl -w", ["perl"], false), ("#!/usr/bin/env perl", ["perl"], true),
        ("#!/usr/bin/env -S perl -w", ["perl", "-w"], true), ("#!/usr/bin/env -i perl", ["perl"], false),
        ("#!/usr/bin/env", ["perl"], false), ("#!/bin/sh", ["perl"], false),
    ])
    func `a script runs in the interpreter of its first line`(first: String, words: [String], owns: Bool) async throws {
        let rules = try await CallerHarness(processes: true)
        let script = try rules.files.write("\(first)\n", to: "mail", permissions: 0o700)
        try rules.addApp(Self.app, exec: script)
        // Absolute paths are resolved in the process's own root.
        let root = "proc/\(getpid())/root"
        try rules.pretend("/usr/bin/perl", words + ["mail", "more"])
        try FileManager.default.linkItem(atPath: script, toPath: rules.files.path(of: "proc/\(getpid())/cwd/mail"))
        #expect(rules.files.read("\(root)/mail").isEmpty)
        #expect(try await rules.register(Self.app) == (owns ? "NotEnrolled" : "NotYours"))
    }

    // MARK: Floods

    @Test func `a flood of calls is refused immediately, except pending ones`() async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend("/usr/bin/env", ["env"])
        try rules.holdName(Self.app)
        let setting: [BusValue] = [.string(Self.app), .string(""), .string("badge")]
        let answers = try await rules.callAtOnce(400, "GetSetting", setting)
        let taken = answers.filter { $0 == "UnknownApp" }.count
        #expect(taken >= CallBounds.waitingCountMax)
        #expect(answers.filter { $0 == "LimitsExceeded" }.count == 400 - taken && taken < 400)
        #expect(try await rules.call("GetStatus", []) == "", "calls are taken again")
    }

    @Test func `arguments that are too long are refused before the caller is identified`() async throws {
        let rules = try await CallerHarness(processes: true)
        let long = BusValue.string(String(repeating: "x", count: 40_000))
        #expect(try await rules.call("GetSetting", [long, long, long]) == "NotYours")
        #expect(try await rules.call("GetSetting", [long, long, long, long]) == "LimitsExceeded")
        let list = BusValue.array("v", Array(repeating: .variant(long), count: 4))
        #expect(try await rules.call("GetSetting", [list]) == "LimitsExceeded")
    }

    // MARK: Permissions of apps

    private static let program = #"{"filter":["/bin/sh","-c","true"]}"#

    @Test func `an app cannot register a program to run outside its sandbox, but its installed manifest can`()
        async throws
    {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend("/usr/bin/env", ["env"], flatpak: Self.app)
        #expect(try await rules.register(Self.app, ("manifest", Self.program)) == "BadManifest")
        #expect(try await rules.register(Self.app, ("manifest", #"{"filter":"bus"}"#)) == "NotEnrolled")
        rules.harness.installed.manifests[AppID(Self.app)] = Self.program
        #expect(try await rules.register(Self.app) == "NotEnrolled")
        #expect(try await rules.register(Self.app, ("manifest", Self.program)) == "BadManifest")
    }

    @Test func `an app may use the topics of its own ID, and that of its installed manifest`() async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend("/usr/bin/env", ["env"], flatpak: Self.app)
        for (topic, answer) in [
            (Self.app, "NotEnrolled"), ("\(Self.app).voip", "NotEnrolled"), ("\(Self.app)box", "BadTopic"),
            ("org.example", "BadTopic"), ("com.bank.App", "BadTopic"),
        ] {
            #expect(try await rules.register(Self.app, ("topic", topic)) == answer, "\(topic)")
        }
        let manifest = #"{"topic":"com.bank.App"}"#
        #expect(try await rules.register(Self.app, ("manifest", manifest)) == "BadTopic")
        rules.harness.installed.manifests[AppID(Self.app)] = manifest
        #expect(try await rules.register(Self.app) == "NotEnrolled")
        #expect(try await rules.register(Self.app, ("topic", "com.bank.App")) == "NotEnrolled")
        #expect(try await rules.register(Self.app, ("topic", "com.bank.Other")) == "BadTopic")
    }

    @Test func `a program cannot rename an installed app, and a name that it gives itself is unverified`()
        async throws
    {
        let rules = try await CallerHarness()
        let server = try await ScriptedDeviceServer()
        _ = try await rules.harness.enrol(with: server).get()
        for (appID, name) in [(Self.app, "Example Mail"), ("org.example.Shop", "Your Bank")] {
            try rules.holdName(appID)
            let manifest = ("manifest", #"{"name":"Your Bank","filter":"bus"}"#)
            #expect(try await rules.register(appID, ("name", "Your Bank"), manifest) == "")
            let app = try #require(try rules.harness.database.apps.app(id: AppID(appID)))
            #expect(app.name == name && app.isVerified == (appID == Self.app))
        }
        let alert = #"{"id":1,"unique-id":"00000000-0000-4000-8000-000000000001","topic":"org.example.Shop","#
        try await server.push(
            event: "notification", id: 1,
            data: alert + #""apns-id":"A","accepted-at":1,"payload":{"aps":{"alert":"Sign in"}}}"#)
        try await rules.harness.loop.run("the alert is shown") { rules.harness.screen.contains("Sign in") }
        #expect(rules.harness.screen.contains("[Your Bank (unverified: org.example.Shop)]"))
    }

    @Test func `a name from the user stays when the app registers itself`() async throws {
        let rules = try await CallerHarness()
        let server = try await ScriptedDeviceServer()
        _ = try await rules.harness.enrol(with: server).get()
        _ = try await rules.harness.register("org.example.Shop", name: "Shop").get()
        try rules.holdName("org.example.Shop")
        #expect(try await rules.register("org.example.Shop", ("name", "Your Bank")) == "")
        let app = try #require(try rules.harness.database.apps.app(id: "org.example.Shop"))
        #expect(app.name == "Shop" && app.isVerified)
    }

    @Test func `the user's tools may register programs and any topic`() async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend(try rules.files.write("tool", to: "tools/posthorn"), ["posthorn"])
        let options = [("manifest", Self.program), ("topic", "com.bank.App")]
        #expect(try await rules.register(Self.app, options[0], options[1]) == "NotEnrolled")
    }

    @Test func `an app may query itself and the agent, but not the user's data`() async throws {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend("/usr/bin/env", ["env"])
        try rules.holdName(Self.app)
        let (own, none) = (BusValue.string(Self.app), BusValue.string(""))
        let channel = BusValue.string(Sample.channel.text)
        for (member, arguments) in [
            ("GetStatus", []), ("GetBadges", []), ("Unregister", [own]), ("Subscribe", [own, channel]),
            ("Unsubscribe", [own, channel]),
            ("ListSettings", [own]), ("GetSetting", [own, none, .string("badge")]),
        ] {
            #expect(try await rules.call(member, arguments) != "NotYours", "\(member)")
        }
        let others = BusValue.string("org.example.Other")
        for (member, arguments) in [
            ("Unregister", [others]), ("Subscribe", [others, channel]), ("Unsubscribe", [others, channel]),
            ("ListSettings", [others]), ("ListSettings", [none]), ("GetSetting", [none, none, .string("master")]),
            ("SetSetting", [own, none, .string("badge"), .string("on")]), ("ListApps", []), ("CountInbox", []),
            ("ListAlerts", []), ("AnswerAlert", []), ("OpenEntry", [.int64(1), none]), ("OpenApp", [own, none]),
            ("ListInbox", [.uint32(1)]), ("GetInboxEntry", [.int64(1)]), ("ClearInbox", [own]), ("Unenrol", []),
            ("Forget", []), ("Enrol", [.string("https://x"), none, none]), ("Nonsense", []), ("Register", []),
        ] {
            #expect(try await rules.call(member, arguments) == "NotYours", "\(member)")
        }
    }
}
