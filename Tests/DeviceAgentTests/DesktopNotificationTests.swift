// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import Foundation
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks the arguments of `Notify` for servers with all sets of capabilities.
struct DesktopNotificationTests {
    private static let all = ["actions", "body", "body-markup", "sound"]

    private func shown(
        _ alert: Alert, name: String = "scripted", capabilities: [String] = all, environment: [String: String] = [:]
    ) async throws -> (ScriptedNotificationServer.Shown, AlertPresented) {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(
            session.bus, loop: session.loop, name: name, capabilities: capabilities)
        let presenter = try session.presenter(environment: environment)
        let answer = try await session.present(alert, with: presenter)
        return (try #require(server.shown.first), answer)
    }

    private let order = Alert(entry: 1, appID: "org.posthorn.Test", appName: "Orders", title: "New order")

    // MARK: Texts

    @Test(arguments: [
        (
            ["body", "body-markup"],
            "<b>a &lt;b&gt;&amp;amp; 'x' \"y\"</b>\n&lt;img src=\"file:///etc/passwd\"&gt;\nc &lt; d"
        ),
        (["body"], "a <b>&amp; 'x' \"y\"\n<img src=\"file:///etc/passwd\">\nc < d"), ([], ""),
    ])
    func `texts are escaped exactly where the server reads markup`(
        capabilities: [String], body: String
    ) async throws {
        var alert = order
        alert.title = "a <b>&amp; 'x' \"y\""
        alert.subtitle = "<img src=\"file:///etc/passwd\">"
        alert.body = "c < d"
        let (shown, _) = try await shown(alert, capabilities: capabilities)
        #expect(shown.body == body)
    }

    @Test(
        arguments: [
            ("t", "s", "b", "<b>t</b>\ns\nb"), ("t", nil, nil, "<b>t</b>"), (nil, "s", "b", "s\nb"),
            (nil, nil, "b", "b"),
            (nil, nil, nil, ""), ("", "", "b", "b"), ("\u{202E}\u{1B}", nil, "b", "b"),
            ("t\u{7}", nil, "a\nb", "<b>t</b>\na\nb"), ("t\nt", "s\ns", "a\r\n\nb", "<b>t t</b>\ns s\na\n\nb"),
        ] as [(String?, String?, String?, String)])
    func `each part has its line, and empty parts have none`(
        title: String?, subtitle: String?, body: String?, expected: String
    ) async throws {
        let alert = Alert(entry: 1, appID: "a", appName: "A", title: title, subtitle: subtitle, body: body)
        #expect(try await shown(alert).0.body == expected)
    }

    @Test(arguments: [
        ("scripted", ["body"], 0, "b"), ("scripted", ["body"], 2, "b\nand 2 more"),
        ("scripted", ["body", "persistence"], 2, "b"), ("scripted", [], 2, ""),
        ("Notification Daemon", ["body", "persistence"], 2, "b\nand 2 more"),
    ])
    func `earlier alerts of a thread are counted when the server keeps no list`(
        name: String, capabilities: [String], earlierCount: Int, body: String
    ) async throws {
        var alert = Alert(entry: 1, appID: "a", appName: "A", body: "b")
        alert.earlierCount = earlierCount
        let (shown, _) = try await shown(alert, name: name, capabilities: capabilities)
        #expect(shown.body == body)
        #expect(shown.summary == (capabilities.isEmpty ? "A · b · and 2 more" : "A"))
    }

    @Test func `the top line is the app's name on one line, whatever the payload contains`() async throws {
        var alert = order
        alert.appName = "Or\u{202E}ders\n<b>\u{1B}[0m"
        alert.title = "Bank"
        #expect(try await shown(alert).0.summary == "Orders <b>[0m")
        #expect(try await shown(alert, capabilities: []).0.summary == "Orders <b>[0m · Bank")
    }

    @Test func `texts are cut to what fits on a screen`() async throws {
        var alert = order
        alert.appName = String(repeating: "a", count: 300)
        alert.title = String(repeating: "t", count: 300)
        alert.body = String(repeating: "<", count: 3000)
        let (shown, _) = try await shown(alert, capabilities: ["body"])
        #expect(shown.summary.unicodeScalars.count == 256)
        let lines = shown.body.split(separator: "\n")
        #expect(lines.map(\.unicodeScalars.count) == [256, 500])
    }

    @Test(arguments: [(10, "9"), (11, "9…"), (200, "9…")])
    func `a body has at most ten lines`(count: Int, last: String) async throws {
        var alert = order
        alert.body = (0..<count).map(String.init).joined(separator: "\n")
        let lines = try await shown(alert, capabilities: ["body"]).0.body.split(separator: "\n")
        #expect(lines.count == 11)
        #expect(lines.first == "New order" && lines.last.map(String.init) == last)
    }

    @Test(arguments: [("https://bank.example/a", "bank.example"), ("example-mail:1", "example-mail:")])
    func `the last line of the body is where the link leads`(link: String, line: String) async throws {
        var alert = order
        alert.link = try NotificationLink(link)
        #expect(
            try await shown(alert, capabilities: ["body"]).0.body.split(separator: "\n").last.map(String.init) == line)
    }

    @Test(arguments: [
        (["body", "icon-static"], "file:///home/a%20b/1.png"), (["body", "body-images"], "file:///home/a%20b/1.png"),
        (["body"], ""),
    ])
    func `a server that shows pictures gets the path of the picture`(
        capabilities: [String], path: String
    ) async throws {
        var alert = order
        alert.picture = "/home/a b/1.png"
        #expect(try await shown(alert, capabilities: capabilities).0.hints.text("image-path") == path)
        alert.hideTexts()
        #expect(try await shown(alert, capabilities: capabilities).0.hints.text("image-path").isEmpty)
    }

    // MARK: Buttons

    @Test(
        arguments: [
            ("scripted", all, "View", ["default", "View", "close", "Close", "view", "View"]),
            ("Xfce Notify Daemon", all, "View", ["close", "Close", "view", "View"]),
            ("scripted", ["body"], "View", []), ("scripted", all, nil, ["ok", "OK"]),
            ("scripted", all, "\u{1}\u{202E}", ["default", "View", "close", "Close", "view", "View"]),
            ("scripted", all, "Read\nit", ["default", "Read it", "close", "Close", "view", "Read it"]),
        ] as [(String, [String], String?, [String])])
    func `the buttons are Close and View in this order, or OK`(
        name: String, capabilities: [String], label: String?, actions: [String]
    ) async throws {
        var alert = order
        alert.viewLabel = label
        #expect(try await shown(alert, name: name, capabilities: capabilities).0.actions == actions)
    }

    @Test func `a long label leaves room for Close`() async throws {
        var alert = order
        alert.viewLabel = String(repeating: "v", count: 41)
        let actions = try await shown(alert).0.actions
        #expect(actions.last?.unicodeScalars.count == 40)
    }

    @Test(arguments: [("Xfce Notify Daemon", 3, [true, false, true]), ("scripted", 1, [true, true, true])])
    func `Xfce, which removes buttons in do-not-disturb, is queried before each alert, and no other server`(
        name: String, count: Int, buttons: [Bool]
    ) async throws {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop, name: name)
        let presenter = try session.presenter()
        for (entry, capabilities) in [Self.all, ["body"], Self.all].enumerated() {
            if entry > 0 { server.capabilities = capabilities }
            _ = try await session.present(
                Alert(entry: EntryID(rawValue: Int64(entry)), appID: "a", appName: "A"), with: presenter)
        }
        #expect(server.capabilityCallCount == count)
        #expect(server.shown.map { !$0.actions.isEmpty } == buttons)
    }

    // MARK: Hints

    @Test(arguments: [(UInt8(0), UInt8(0)), (1, 1), (2, 2), (3, 2), (255, 2)])
    func `urgency is a byte of at most 2`(urgency: UInt8, hint: UInt8) async throws {
        var alert = order
        alert.urgency = urgency
        let (shown, _) = try await shown(alert)
        #expect(shown.hints[key: "urgency"] == .byte(hint))
        #expect(shown.hints[key: "desktop-entry"] == .string("org.posthorn.Test"))
        #expect(shown.expireTimeout == .int32(0))
    }

    @Test(arguments: [(AlertStyle.banner, -1), (.alert, 0)] as [(AlertStyle, Int32)], 0...2 as ClosedRange<UInt8>)
    func `a banner expires when the server decides, an alert never, and both stay in its list`(
        style: (AlertStyle, Int32), urgency: UInt8
    ) async throws {
        var alert = order
        alert.style = style.0
        alert.urgency = urgency
        let (shown, _) = try await shown(alert)
        #expect(shown.expireTimeout == .int32(style.1))
        #expect(shown.hints[key: "urgency"] == .byte(urgency))
        #expect(shown.hints[key: "transient"] == nil)
    }

    @Test(arguments: [("Pay 300 €", ["default", "View", "close", "Close", "view", "View"]), (nil, ["ok", "OK"])])
    func `an alert with hidden texts contains nothing of the payload`(label: String?, actions: [String]) async throws {
        var alert = order
        alert.subtitle = "Table 4"
        alert.body = "Two coffees"
        alert.viewLabel = label
        alert.hideTexts()
        let (shown, _) = try await shown(alert)
        #expect(shown.summary == "Orders")
        #expect(shown.body == "Notification")
        #expect(shown.actions == actions)
    }

    @Test(
        arguments: [
            (nil, ""), ("mail-unread", "mail-unread"),
            ("/usr/share/a b/ä#.png", "file:///usr/share/a%20b/%C3%A4%23.png"),
            ("/a\u{1}", "file:///a%01"),
        ] as [(String?, String)])
    func `an icon is a name or a file URL`(icon: String?, expected: String) async throws {
        var alert = order
        alert.icon = icon
        #expect(try await shown(alert).0.icon == expected)
    }

    @Test(
        arguments: [
            ("dunst", "a", "/icons/hicolor/64x64/apps/a.png"), ("mako", "b", "/icons/hicolor/scalable/apps/b.svg"),
            ("dunst", "c", "/pixmaps/c.png"), ("dunst", "missing", nil), ("dunst", "../apps/a", nil),
            ("scripted", "a", nil),
        ] as [(String, String, String?)])
    func `a server that finds few icons by name gets the app's icon file`(
        name: String, icon: String, file: String?
    ) async throws {
        let home = try TemporaryDirectory()
        for (folder, file) in [
            ("64x64/apps", "a.png"), ("48x48/apps", "a.png"), ("scalable/apps", "a.svg"), ("scalable/apps", "b.svg"),
        ] {
            try home.makeDirectory("icons/hicolor/\(folder)")
            try home.write("icon", to: "icons/hicolor/\(folder)/\(file)")
        }
        try home.makeDirectory("pixmaps")
        try home.write("icon", to: "pixmaps/c.png")
        var alert = order
        alert.icon = icon
        let environment = ["XDG_DATA_HOME": home.path, "XDG_DATA_DIRS": "/nonexistent"]
        let (shown, _) = try await shown(alert, name: name, environment: environment)
        #expect(shown.icon == file.map { "file://\(home.path)\($0)" } ?? icon)
    }

    // MARK: Sounds

    @Test(
        arguments: [
            ("scripted", all, Sound.standard, true), ("scripted", ["body"], .standard, false),
            ("cinnamon", all, .standard, false), ("cosmic-notifications", all, .standard, false),
            ("Notification Daemon", all, .standard, false), ("scripted", all, .named("chime"), false),
            ("scripted", all, nil, false),
        ] as [(String, [String], Sound?, Bool)])
    func `the server plays the sounds that it can, and is silent otherwise`(
        name: String, capabilities: [String], sound: Sound?, isPlayed: Bool
    ) async throws {
        var alert = order
        alert.sound = sound
        let (shown, answer) = try await shown(alert, name: name, capabilities: capabilities)
        #expect(answer == .shown(playsSound: isPlayed))
        #expect(shown.hints[key: "sound-name"] == (isPlayed ? .string("message-new-instant") : nil))
        #expect(shown.hints[key: "suppress-sound"] == (isPlayed ? nil : .bool(true)))
    }

    @Test(
        arguments: [
            ("chime", "chime.oga"), ("chime.oga", "chime.oga"), ("chime.caf", "chime.oga"), ("tick", "tick.ogg"),
            ("a.b", "a.b.wav"), ("missing", nil), ("empty", nil), ("large", nil), ("link", nil), ("pipe", nil),
            ("folder", nil), ("../org.posthorn.Test/chime", nil), ("..", nil), ("/etc/passwd", nil), ("", nil),
            (".hidden", nil), ("chime\0", nil), (String(repeating: "a", count: 65), nil),
        ] as [(String, String?)])
    func `a sound's name leads to a regular file in the app's folder or to nothing`(
        name: String, file: String?
    ) async throws {
        let home = try soundFolder()
        var alert = order
        alert.sound = .named(name)
        let (shown, answer) = try await shown(alert, environment: ["XDG_DATA_HOME": home.path])
        let folder = URL(fileURLWithPath: home.path).resolvingSymlinksInPath().path
        let path = file.map { "\(folder)/posthorn/sounds/org.posthorn.Test/\($0)" }
        #expect(shown.hints[key: "sound-file"]?.stringValue == path)
        #expect(answer == .shown(playsSound: file != nil))
    }

    @Test func `an app's folder that is a symbolic link has no sounds`() async throws {
        let home = try soundFolder()
        try FileManager.default.createSymbolicLink(
            atPath: home.path(of: "posthorn/sounds/org.posthorn.Linked"), withDestinationPath: "org.posthorn.Test")
        var alert = order
        alert.appID = "org.posthorn.Linked"
        alert.sound = .named("chime")
        let (shown, _) = try await shown(alert, environment: ["XDG_DATA_HOME": home.path])
        #expect(shown.hints[key: "sound-file"] == nil)
    }

    private func soundFolder() throws -> TemporaryDirectory {
        let home = try TemporaryDirectory()
        let folder = "posthorn/sounds/org.posthorn.Test"
        try home.makeDirectory("\(folder)/folder.oga")
        for name in ["chime.oga", "chime.wav", "tick.ogg", "a.b.wav", ".hidden.oga"] {
            try home.write("sound", to: "\(folder)/\(name)")
        }
        try home.write("", to: "\(folder)/empty.oga")
        try home.write(String(repeating: "x", count: (5 << 20) + 1), to: "\(folder)/large.oga")
        let path = home.path(of: folder)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/link.oga", withDestinationPath: "/etc/passwd")
        #expect(unsafe mkfifo("\(path)/pipe.oga", 0o600) == 0)
        return home
    }
}
