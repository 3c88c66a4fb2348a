// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
@testable import PosthornCLI
internal import PushDBus
internal import TestSupport
internal import Testing

struct AgentCallTests {
    private func check(_ call: AgentCall, _ method: AgentMethod, _ arguments: [BusValue]) {
        #expect(call.method == method)
        #expect(call.arguments == arguments)
    }

    @Test(
        arguments: [
            (
                ["org.example.Mail", "sound", "off"], ["org.example.Mail", "", "sound", "off"]
            ),
            (["a", "NEWS", "alert", "on"], ["a", "NEWS", "alert", "on"]),
            (["a", "badge", "default"], ["a", "", "badge", ""]),
            (["master", "off"], ["", "", "master", "off"]),
            (["master", "alert", "on"], ["master", "", "alert", "on"]),
            (["schedule", "mon 01:00-02:00"], ["", "", "schedule", "mon 01:00-02:00"]),
            (["schedule", "mon-fri", "22:00-07:00"], ["", "", "schedule", "mon-fri 22:00-07:00"]),
            (["do-not-disturb", "until", "1795300715"], ["", "", "do-not-disturb", "until 1795300715"]),
        ] as [([String], [String])])
    func `settings set names the app and the event`(words: [String], arguments: [String]) throws {
        check(
            try SettingsCommands.setCall(try typed(["settings", "set"] + words)), .setSetting,
            arguments.map { .string($0) })
    }

    @Test(arguments: [["a"], ["a", "on"], ["a", "sound"], ["master"]])
    func `settings set refuses arguments that conflict`(words: [String]) throws {
        let invocation = try typed(["settings", "set"] + words)
        let error = thrown { () throws(CommandError) in _ = try SettingsCommands.setCall(invocation) }
        #expect(error?.exitCode == .usage)
    }

    @Test(
        arguments: [
            ([], "missing argument: SETTING", ""), (["master"], "missing argument: VALUE", ""),
            (["mastr", "on"], "unknown setting 'mastr'", "Did you mean 'master'?"),
            (["silnt", "off"], "unknown setting 'silnt'", "Did you mean 'silent'?"),
            (["soudn", "off"], "unknown setting 'soudn'", "Did you mean 'sound'?"),
            (["schedul", "mon-fri", "22:00-07:00"], "unknown setting 'schedul'", "Did you mean 'schedule'?"),
            (["volume", "3"], "unknown setting 'volume'", "Global settings: master, do-not-disturb,"),
            (["sound", "off"], "'sound' is a setting of an app", "posthorn settings set APP sound off"),
            (["org.example.Mail", "off"], "missing argument: VALUE", "Use: posthorn settings set APP SETTING VALUE"),
            (
                ["m.m", "soudn", "off"], "unknown setting 'soudn'",
                "Did you mean 'sound'? Settings of an app: badge, sound,"
            ),
            (["a", "master", "off"], "unknown setting 'master'", "Settings of an app: badge, sound,"),
            (
                ["m.m", "NEWS", "alret", "off"], "unknown setting 'alret'",
                "Did you mean 'alert'? Settings of an event type"
            ),
            (
                ["a", "NEWS", "preview", "off"], "unknown setting 'preview'",
                "Settings of an event type: badge, sound, alert"
            ),
            (["master", "of"], "invalid value 'of' for master: use on or off", "--help"),
            (["master", "off", "now"], "invalid value 'off now' for master: use on or off", "--help"),
            (["a", "alert", "baner"], "invalid value 'baner' for alert: use on, off, none, banner or alert", "--help"),
            (["a", "NEWS", "alert", "banner"], "invalid value 'banner' for alert: use on or off", "--help"),
            (["inbox-days", "0"], "invalid value '0' for inbox-days: use a number from 1 to 3650", "--help"),
            (
                ["do-not-disturb", "18:00"],
                "invalid value '18:00' for do-not-disturb: use on or off, or set an end with 'posthorn dnd until HH:MM'",
                "--help"
            ),
            (
                ["a", "muted", "on"],
                "invalid value 'on' for muted: use off, or set an end with 'posthorn settings mute APP TIME'", "--help"
            ),
        ] as [([String], String, String)])
    func `settings set explains an invalid setting or value`(
        words: [String], problem: String, remedy: String
    ) throws {
        let invocation = try typed(["settings", "set"] + words)
        let error = thrown { () throws(CommandError) in _ = try SettingsCommands.setCall(invocation) }
        #expect(error?.problem == problem && error?.exitCode == .usage)
        #expect(error?.remedy.contains(remedy) == true || remedy.isEmpty, "\(error?.remedy ?? "")")
    }

    @Test func `an unknown app ID is answered with the closest known one`() {
        let error = SettingsCommands.unknownApp("org.example.Mial", known: ["org.example.Mail", "org.example.Chat"])
        #expect(error.exitCode == .notFound)
        #expect(error.problem == "app 'org.example.Mial' is not registered. Did you mean 'org.example.Mail'?")
        let other = SettingsCommands.unknownApp("x", known: ["org.example.Mail"])
        #expect(other.problem == "app 'x' is not registered; see 'posthorn settings list'")
    }

    @Test(arguments: [([], 20), (["-n", "1"], 1), (["--limit=4294967295"], 4_294_967_295)] as [([String], UInt32)])
    func `inbox list requests the given number`(words: [String], limit: UInt32) throws {
        check(
            InboxCommands.searchCall(try typed(["inbox", "list"] + words), count: limit, before: 0), .searchInbox,
            [.string(""), .string(""), .string(""), .int64(0), .uint32(limit)])
        #expect(try InboxCommands.limit(try typed(["inbox", "list"] + words)) == Int64(limit))
    }

    @Test(arguments: [(1, 1), (1000, 1000), (1001, 1001), (2632, 2632), (100_000, 2632)])
    func `inbox list continues where an answer of the agent ends`(limit: Int64, count: Int) throws {
        let entries = try InboxCommands.entries(upTo: limit, before: 0) { (count, before) in
            let newest = before == 0 ? 2632 : before - 1
            return stride(from: newest, to: max(0, newest - min(Int64(count), 1000)), by: -1).map { number in
                var entry = InboxRecord()
                entry.entry = number
                return entry
            }
        }
        #expect(entries.map(\.entry) == (0..<count).map { Int64(2632 - $0) })
    }

    @Test func `inbox search sends all words, the app, the filter and the page`() throws {
        let invocation = try typed("inbox", "search", "Lunch", "--app", "a", "-u", "--before", "7", "noon")
        check(
            InboxCommands.searchCall(invocation, count: 20, before: try InboxCommands.before(invocation)),
            .searchInbox, [.string("Lunch noon"), .string("a"), .string("unread"), .int64(7), .uint32(20)])
    }

    @Test func `read and clear accept an entry, an app or everything`() throws {
        check(InboxCommands.readCall(try typed("inbox", "read", "7")), .markRead, [.int64(7), .string("")])
        check(InboxCommands.readCall(try typed("inbox", "read", "a.b")), .markRead, [.int64(0), .string("a.b")])
        check(InboxCommands.readCall(try typed("inbox", "read")), .markRead, [.int64(0), .string("")])
        check(InboxCommands.clearCall(try typed("inbox", "clear", "7")), .removeInboxEntry, [.int64(7)])
        check(InboxCommands.clearCall(try typed("inbox", "clear", "a.b")), .clearInbox, [.string("a.b")])
        check(InboxCommands.clearCall(try typed("inbox", "clear", "-y")), .clearInbox, [.string("")])
    }

    @Test(arguments: ["0", "-1", "4294967296", "all"])
    func `inbox list refuses an invalid limit`(limit: String) throws {
        let invocation = try typed("inbox", "list", "--limit", limit)
        let error = thrown { () throws(CommandError) in _ = try InboxCommands.limit(invocation) }
        #expect(error?.exitCode == .usage)
    }

    @Test(arguments: ["show", "open"])
    func `inbox show and open take the number of an entry`(command: String) throws {
        #expect(try InboxCommands.entry(try typed("inbox", command, "17")) == 17)
        let invocation = try typed("inbox", command, "last")
        #expect(thrown { () throws(CommandError) in _ = try InboxCommands.entry(invocation) }?.exitCode == .usage)
    }

    @Test(
        arguments: [
            ([], []), (["--topic", "t"], [("topic", BusValue.string("t"))]),
            (["--name", "N", "-t", "t"], [("topic", .string("t")), ("name", .string("N"))]),
            (["--environment", "development"], [("environment", .string("development"))]),
            (["-e", "production"], [("environment", .string("production"))]),
        ] as [([String], [(String, BusValue)])])
    func `register sends only the given options`(words: [String], options: [(String, BusValue)]) throws {
        let call = try RegisterCommands.registerCall(try typed(["register", "org.example.Mail"] + words))
        check(call, .register, [.string("org.example.Mail"), .dictionary(options)])
    }

    @Test func `register sends a manifest unchanged`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write(#"{"name": "Mail"}"#, to: "mail.json")
        let call = try RegisterCommands.registerCall(try typed("register", "a", "--manifest", path))
        check(call, .register, [.string("a"), .dictionary([("manifest", .string(#"{"name": "Mail"}"#))])])
        for (text, path) in [("", "empty"), ("{\0}", "nul"), (nil, "missing")] {
            if let text { try files.write(text, to: path) }
            let invocation = try typed("register", "a", "--manifest", files.path(of: path))
            let error = thrown { () throws(CommandError) in _ = try RegisterCommands.registerCall(invocation) }
            #expect(error?.problem.contains(path) == true)
        }
    }

    @Test(arguments: ["org.example.Mail.desktop", "/usr/share/applications/org.example.Mail.desktop", "a/b"])
    func `register refuses a file in the place of an app ID`(app: String) throws {
        let invocation = try typed("register", app)
        let error = thrown { () throws(CommandError) in _ = try RegisterCommands.registerCall(invocation) }
        #expect(error?.exitCode == .usage)
        #expect(error?.problem.contains("without '.desktop'") == true)
    }

    @Test func `register refuses an unknown environment`() {
        #expect(throws: UsageError.self) { try typed("register", "a", "--environment", "sandbox") }
    }

    @Test(arguments: [AgentMethod.subscribe, .unsubscribe])
    func `subscribe and unsubscribe send app and channel`(method: AgentMethod) throws {
        let word = method.rawValue.lowercased()
        let invocation = try typed(word, "a", "AAECAwQFBgcICQoLDA0ODw==")
        let call = try SubscribeCommands.call(method, invocation)
        check(call, method, [.string("a"), .string("AAECAwQFBgcICQoLDA0ODw==")])
        let file = try typed(word, "a.desktop", "c")
        let error = thrown { () throws(CommandError) in _ = try SubscribeCommands.call(method, file) }
        #expect(error?.exitCode == .usage)
    }

    @Test func `unenrol notifies the server, or forgets it`() throws {
        check(AgentCommands.unenrolCall(try typed("agent", "unenrol")), .unenrol, [])
        check(AgentCommands.unenrolCall(try typed("agent", "unenrol", "--local", "-y")), .forget, [])
    }

    @Test(arguments: [["enrol"], ["agent", "enrol"], ["agent", "unenrol"]])
    func `the American spelling of a command is accepted too`(words: [String]) throws {
        let server = words == ["agent", "enrol"] ? ["https://a:1"] : []
        let american = Array(words.dropLast()) + ["\(words.last ?? "")l"] + server
        #expect(try typed(american).path == ["posthorn"] + words)
    }

    @Test(arguments: ["", "-----BEGIN EC PRIVATE KEY-----\n", "\u{0}\u{1}"])
    func `an invalid authority file is reported before any call`(text: String) throws {
        let files = try TemporaryDirectory()
        let path = try files.write(text, to: "ca.pem")
        let error = thrown { () throws(CommandError) in try LocalFile.checkCertificate(path) }
        #expect(error?.problem == "\(path): not a PEM certificate")
        let missing = thrown { () throws(CommandError) in try LocalFile.checkCertificate("\(path)x") }
        #expect(missing?.exitCode == .notFound)
        let good = try files.write("Subject: x\n-----BEGIN CERTIFICATE-----\n", to: "good.pem")
        #expect(thrown { () throws(CommandError) in try LocalFile.checkCertificate(good) } == nil)
    }

    @Test func `enrol sends the agent an absolute path, or none`() throws {
        let url = "https://push.example.org:2197"
        check(
            AgentCommands.enrolCall(try typed("agent", "enrol", url, "CODE", "--ca-file", "/etc/ca.pem")), .enrol,
            [.string(url), .string("CODE"), .string("/etc/ca.pem")])
        check(
            AgentCommands.enrolCall(try typed("agent", "enrol", url)), .enrol,
            [.string(url), .string(""), .string("")])
        let relative = AgentCommands.enrolCall(try typed("agent", "enrol", url, "--ca-file", "ca.pem")).arguments[2]
        let path = try #require(relative.stringValue)
        #expect(path.hasPrefix("/") && path.hasSuffix("/ca.pem"))
    }
}
