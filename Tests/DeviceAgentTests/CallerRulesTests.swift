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

    @Test func `every program outside a Flatpak may use the tray, because any of them can be the tray`() async throws {
        let panel = try await CallerHarness(processes: true)
        #expect(try await !panel.mayUseTray(), "it is unknown")
        try panel.pretend("/usr/bin/env", ["env"])
        #expect(try await panel.mayUseTray())
        let sandboxed = try await CallerHarness(processes: true)
        try sandboxed.pretend("/usr/bin/env", ["env"], flatpak: Self.app)
        #expect(try await !sandboxed.mayUseTray())
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

    @Test(arguments: [false, true])
    func `an app in a sandbox cannot name hosts of pictures, but its installed manifest can`(isSandboxed: Bool)
        async throws
    {
        let rules = try await CallerHarness(processes: true)
        try rules.pretend("/usr/bin/env", ["env"], flatpak: isSandboxed ? Self.app : nil)
        try rules.holdName(Self.app)
        let hosts = #"{"picture_hosts":["images.example.org"]}"#
        let answer = try await rules.register(Self.app, ("manifest", hosts))
        #expect(answer == (isSandboxed ? "BadManifest" : "NotEnrolled"))
        rules.harness.installed.manifests[AppID(Self.app)] = hosts
        #expect(try await rules.register(Self.app) == "NotEnrolled")
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
        #expect(rules.harness.screen.contains("[unverified: Your Bank (org.example.Shop)]"))
        // A person who registers it again, without a name, does not vouch for it.
        _ = try await rules.harness.register("org.example.Shop").get()
        let shop = try #require(try rules.harness.database.apps.app(id: "org.example.Shop"))
        #expect(shop.name == "Your Bank" && !shop.isVerified)
    }

    @Test(arguments: [
        ("Your Bank" + String(repeating: "\u{2800}", count: 50), "Your Bank"),
        (" Your \u{3164}\u{A0}\t Bank\u{115F}", "Your Bank"), ("\u{2800}", "org.example.Shop"),
    ])
    func `a name has no long blanks, which could push the remark off the screen`(name: String, shown: String)
        async throws
    {
        let rules = try await CallerHarness()
        let server = try await ScriptedDeviceServer()
        _ = try await rules.harness.enrol(with: server).get()
        try rules.holdName("org.example.Shop")
        #expect(try await rules.register("org.example.Shop", ("name", name)) == "")
        let app = try #require(try rules.harness.database.apps.app(id: "org.example.Shop"))
        #expect(app.name == shown && !app.isVerified)
        var alert = Alert(entry: 1, appID: app.appID, appName: app.name, isVerified: false)
        #expect(alert.topLine.hasPrefix("unverified: \(shown)"))
        alert.appName = app.appID.text
        #expect(alert.topLine == "unverified: org.example.Shop")
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
