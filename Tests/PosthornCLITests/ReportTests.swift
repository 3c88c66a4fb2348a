// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import Testing

struct ReportTests {
    @Test func `apps are listed in aligned columns`() throws {
        let apps = AdminAPI.Apps(apps: [
            AdminAPI.App(topic: "org.example.Mail", name: "Mail", teamID: "T", registrationCount: 12, pendingCount: 0),
            AdminAPI.App(
                topic: "a", name: "郵便", teamID: "TEAM123456", registrationCount: 3, pendingCount: 1, checks: .strict,
                broadcasts: true),
        ])
        let report = AppCommands.report(of: apps)
        #expect(
            report.text == """
                TOPIC             NAME  TEAM ID     CHECKS  BROADCASTS  REGISTRATIONS  PENDING
                org.example.Mail  Mail  T           warn    off                    12        0
                a                 郵便  TEAM123456  strict  on                      3        1
                """)
        #expect(
            try report.jsonText
                == #"{"apps":[{"broadcasts":false,"checks":"warn","name":"Mail","pending_count":0,"#
                + #""registration_count":12,"team_id":"T","topic":"org.example.Mail"},"#
                + #"{"broadcasts":true,"checks":"strict","name":"郵便","pending_count":1,"registration_count":3,"#
                + #""team_id":"TEAM123456","topic":"a"}]}"#)
    }

    @Test(
        arguments: [
            ("shown", "", ["badge", "alert:do-not-disturb"], "shown: badge only, do-not-disturb"),
            ("shown", "", ["badge", "sound", "alert:switched-off"], "shown: badge and sound only, switched-off"),
            ("shown", "", ["badge:event-off", "alert"], "shown"), ("shown", "", [], "shown"),
            ("shown", "late", ["alert:silent"], "shown: late"), ("closed", "", ["alert:silent"], "closed"),
        ] as [(String, String, [String], String)])
    func `the inbox shows why an alert was suppressed`(state: String, reason: String, parts: [String], said: String) {
        let entry = InboxRecord(
            .dictionary([("state", .string(state)), ("reason", .string(reason)), ("effects", .strings(parts))]))
        #expect(InboxCommands.report(of: [entry]).text.contains(" \(said), new"))
    }

    @Test(arguments: [
        ("event-off", "suppressed: event-off (turned off for this event type)"),
        ("hook any: exit 1", "suppressed: hook any: exit 1"), ("", "suppressed"),
    ])
    func `one notification is shown with the meaning of the reason`(reason: String, said: String) {
        let entry = InboxRecord(.dictionary([("state", .string("suppressed")), ("reason", .string(reason))]))
        #expect(InboxCommands.report(of: entry).text.contains("\nState     \(said)\n"))
    }

    @Test func `the inbox has a column of reminders only if there is one`() throws {
        func entry(_ seconds: Int64) -> InboxRecord {
            InboxRecord(
                .dictionary([("entry", .int64(3)), ("state", .string("closed")), ("remind_at", .int64(seconds))]))
        }
        let time = LocalTime.shortText(Timestamp(unixSeconds: 1_795_300_715))
        let list = InboxCommands.report(of: [entry(1_795_300_715), entry(0)])
        #expect(list.text.contains("REMINDER") && list.text.contains(time))
        #expect(try list.jsonText.contains(#""remind_at":1795300715"#))
        #expect(!InboxCommands.report(of: [entry(0)]).text.contains("REMINDER"))
        let shown = InboxCommands.report(of: entry(1_795_300_715)).text
        #expect(shown.contains("Reminder") && shown.contains(time))
        #expect(!InboxCommands.report(of: entry(0)).text.contains("Reminder"))
    }

    @Test func `a reason that is too long is cut at its end, and the mark of a new entry stays`() {
        let reason = "hook any: " + String(repeating: "x", count: 100)
        let entry = InboxRecord(
            .dictionary([("state", .string("shown")), ("reason", .string(reason)), ("title", .string("T"))]))
        let row = InboxCommands.report(of: [entry]).text
        #expect(row.contains("shown: hook any: xxx") && row.hasSuffix(", new  T"), "\(row)")
    }

    @Test func `settings have readable values, and a column of events only if there are any`() {
        func line(_ event: String, _ name: String, _ value: String) -> SettingRecord {
            SettingRecord(
                .dictionary([("event", .string(event)), ("name", .string(name)), ("value", .string(value))]))
        }
        let (app, later) = (AppRecord(.dictionary([])), LocalTime.now.advanced(bySeconds: 3600))
        let personal = SettingsCommands.report(
            of: app, [line("", "do-not-disturb", "until \(later.unixSeconds)"), line("", "silent", "off")])
        #expect(
            personal.text.contains("until \(LocalTime.text(later))") && !personal.text.contains("EVENT"))
        #expect(SettingsCommands.report(of: app, [line("", "do-not-disturb", "until 7")]).text.hasSuffix("  off"))
        #expect(SettingsCommands.report(of: app, [line("", "muted", "until 7")]).text.hasSuffix("  off"))
        #expect(
            SettingsCommands.report(of: app, [line("", "muted", "until \(later.unixSeconds)")]).text
                .hasSuffix("until \(LocalTime.text(later))"))
        #expect(SettingsCommands.report(of: app, [line("NEWS", "sound", "on")]).text.contains("EVENT"))
        let standard = SettingsCommands.report(of: ["a.b", "", "sound"], value: "on", isStandard: true)
        #expect(standard.text == "a.b: sound is on, the default.")
        #expect(SettingsCommands.report(of: ["", "", "master"], value: "off").text == "master is off.")
    }

    @Test func `an empty list says what to do, and is empty in JSON`() throws {
        let report = AppCommands.report(of: AdminAPI.Apps(apps: []))
        #expect(report.text.contains("posthorn app add TOPIC"))
        #expect(try report.jsonText == #"{"apps":[]}"#)
        #expect(KeyCommands.report(of: CredentialAPI.Keys(keys: [])).text.contains("posthorn key create"))
        #expect(DeviceCommands.report(of: AdminAPI.Devices(devices: [])).text.contains("posthorn enrol"))
    }

    @Test(arguments: ["a\nTOPIC forged", "a\r\nb", "\u{1B}]0;title", "\u{9B}2Jx", "a\u{2028}b", "\u{202E}txt", "a\tb"])
    func `a foreign name cannot control a terminal or start a line`(name: String) {
        let app = AdminAPI.App(topic: "t", name: name, teamID: "T", registrationCount: 0, pendingCount: 0)
        let row = AppCommands.report(of: AdminAPI.Apps(apps: [app])).text
        #expect(row.split(whereSeparator: \.isNewline).count == 2)
        #expect(row.split(separator: " ").last == "0", "the rest of the row is there")
        #expect(AppCommands.report(of: app).text.split(whereSeparator: \.isNewline).count == 7)
        for text in [row, AppCommands.report(of: app).text] {
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
            #expect(!text.unicodeScalars.contains("\u{202E}"))
        }
    }

    @Test func `a created key shows both IDs and its file, never the key`() throws {
        let key = CredentialAPI.Key(
            keyID: "ABC1234567", teamID: "TEAM123456", topics: nil, createdAt: .unixEpoch, privateKey: "-----BEGIN")
        let report = KeyCommands.report(of: key, path: "AuthKey_ABC1234567.p8")
        #expect(
            report.text == """
                Key ID       ABC1234567
                Team ID      TEAM123456
                File         AuthKey_ABC1234567.p8
                Environment  both
                Topics       all topics of the team
                """)
        #expect(
            try report.jsonText
                == #"{"file":"AuthKey_ABC1234567.p8","key_id":"ABC1234567","team_id":"TEAM123456"}"#)
    }

    @Test func `a revoked key shows the time`() {
        let key = CredentialAPI.Key(
            keyID: "K", teamID: "T", topics: ["a", "b"], createdAt: .unixEpoch,
            revokedAt: Timestamp(unixSeconds: 1_795_295_709))
        let text = KeyCommands.report(of: CredentialAPI.Keys(keys: [key])).text
        #expect(text.contains("revoked 2026-11-2") && text.hasSuffix("a, b"))
    }

    @Test(arguments: [(nil, "both"), (Environment.production, "production"), (.development, "development")])
    func `a key shows its environment`(environment: Environment?, word: String) throws {
        let key = CredentialAPI.Key(
            keyID: "K", teamID: "T", topics: nil, createdAt: .unixEpoch, environment: environment)
        #expect(KeyCommands.report(of: CredentialAPI.Keys(keys: [key])).text.contains("\nK       T        \(word) "))
        let created = KeyCommands.report(of: key, path: "k.p8")
        #expect(created.text.contains("\nEnvironment  \(word)\n"))
        #expect(try created.jsonText.contains("environment") == (environment != nil))
    }

    @Test(arguments: [
        (true, nil, "now"), (true, 0, "now"), (false, nil, "unknown"), (false, 1_795_295_709, "2026-11-2"),
    ])
    func `a device shows when it was last seen`(connected: Bool, seenAt: Int64?, text: String) {
        let device = AdminAPI.Device(
            deviceID: "0123456789abcdef", name: "desk", platform: "linux", enrolledAt: .unixEpoch,
            connected: connected, topics: [], pendingCount: 0, seenAt: seenAt.map(Timestamp.init(unixSeconds:)),
            agent: "posthorn-agent/1")
        let word = connected ? "yes" : "no"
        #expect(DeviceCommands.report(of: device).text.contains("\nConnected  \(word)\nLast seen  \(text)"))
        #expect(DeviceCommands.report(of: device).text.contains("\nAgent      posthorn-agent/1\n"))
        let table = DeviceCommands.report(of: AdminAPI.Devices(devices: [device])).text
        #expect(table.contains("agent/1  \(text)"))
    }

    @Test func `channels are listed in aligned columns, with the command line's terms`() throws {
        let channels = AdminAPI.Channels(channels: [
            AdminAPI.Channel(
                channelID: "AAAAAAAAAAAAAAAAAAAAAA==", topic: "t", environment: .production,
                messageStoragePolicy: .noMessageStored, createdAt: Timestamp(unixSeconds: 1_795_295_709),
                subscriptionCount: 12),
            AdminAPI.Channel(
                channelID: "BAAAAAAAAAAAAAAAAAAAAA==", topic: "t", environment: .development,
                messageStoragePolicy: .mostRecentMessageStored, createdAt: Timestamp(unixSeconds: 1_795_295_709),
                subscriptionCount: 0),
        ])
        let lines = ChannelCommands.report(of: channels, topic: "t").text.split(separator: "\n")
        #expect(lines[0] == "CHANNEL ID                ENVIRONMENT  STORES  SUBSCRIPTIONS  CREATED")
        #expect(lines[1].hasPrefix("AAAAAAAAAAAAAAAAAAAAAA==  production   none               12  2026-11-2"))
        #expect(lines[2].hasPrefix("BAAAAAAAAAAAAAAAAAAAAA==  development  last                0  2026-11-2"))
        let one = ChannelCommands.report(of: channels.channels[1])
        #expect(one.text.hasPrefix("Channel ID     BAAAAAAAAAAAAAAAAAAAAA==\nTopic          t\nEnvironment    dev"))
        #expect(try one.jsonText.contains(#""message_storage_policy":1"#))
        #expect(
            ChannelCommands.report(of: AdminAPI.Channels(channels: []), topic: "a\nb").text
                == "No channels. Create one with 'posthorn channel create a b'.")
    }

    @Test(arguments: [
        ("https://push.example.org:2197", "posthorn agent enrol https://push.example.org:2197 ABCD-EFGH"),
        ("https://[::1]:2197", "posthorn agent enrol 'https://[::1]:2197' ABCD-EFGH"),
        ("https://ca's", #"posthorn agent enrol 'https://ca'\''s' ABCD-EFGH"#),
        ("$(reboot)", "posthorn agent enrol '$(reboot)' ABCD-EFGH"),
    ])
    func `enrol prints a command that can be pasted into a shell`(serverURL: String, command: String) {
        let code = CredentialAPI.EnrolmentCode(
            code: "ABCD-EFGH", expiresAt: .unixEpoch, serverURL: serverURL, caFile: "/a.pem")
        #expect(EnrolCommand.deviceCommand(for: code) == command)
        #expect(EnrolCommand.report(of: code).text.hasSuffix("\n  \(command)"))
    }

    @Test func `enrol prints localhost if the server's name has no address`() {
        let code = CredentialAPI.EnrolmentCode(
            code: "ABCD-EFGH", expiresAt: .unixEpoch, serverURL: "https://vm:2197", caFile: "/a.pem")
        let text = EnrolCommand.report(of: code, isUnknownHere: true).text
        #expect(text.contains("This machine cannot resolve the server's name vm."))
        #expect(text.hasSuffix("\n  posthorn agent enrol https://localhost:2197 ABCD-EFGH"))
    }

    @Test func `the status shows all counts`() throws {
        var counts = AdminAPI.Counts()
        counts.devices = 5
        counts.devicesConnected = 4
        counts.outcomes = ["viewed": 2, "closed": 1]
        counts.glitches = 3
        var status = AdminAPI.Status(
            version: "1.2.3", processID: 77, startedAt: .unixEpoch, serverURL: "https://a:1", dataDirectory: "/d",
            teamID: "T", counts: counts)
        let text = StatusCommand.report(of: status).text
        #expect(text.contains("Version                   1.2.3, process 77"))
        #expect(text.contains("Devices                   5, 4 connected"))
        #expect(text.contains("\nSince start"))
        let end = """

            Devices reported
              closed                  1
              viewed                  2
            Ignored acknowledgements  3
            """
        #expect(text.hasSuffix(end))
        status.counts.includesAllNodes = true
        #expect(StatusCommand.report(of: status).text.contains("\nSince the first start     of all nodes\n"))
    }

    @Test func `the status shows connections and their memory`() throws {
        var status = AdminAPI.Status(
            version: "1.2.3", processID: 77, startedAt: .unixEpoch, serverURL: "https://a:1", dataDirectory: "/d",
            teamID: "T", counts: AdminAPI.Counts())
        status.connections = AdminAPI.Connections(
            strangers: 1, devices: 2, providers: 3, limit: 960, shed: 0, overLimit: 0)
        status.memory = AdminAPI.Memory(heldBytes: 16_384, budgetBytes: 512 << 20, heldBack: 0)
        #expect(!StatusCommand.report(of: status).text.contains("CA file"))
        status.caFile = "/d/authority.pem"
        let quiet = StatusCommand.report(of: status)
        #expect(quiet.text.contains("\nCA file                   /d/authority.pem\n"))
        let connections = "6 of 960: 2 from devices, 3 from providers, 1 unauthenticated"
        #expect(quiet.text.contains("\nConnections               \(connections)\n"))
        #expect(quiet.text.contains("\nConnection memory         16 KiB of 512 MiB\n"))
        #expect(!quiet.text.contains("closed to free capacity") && !quiet.text.contains("reading paused"))
        #expect(try quiet.jsonText.contains(#""over_limit":0"#))
        status.connections?.shed = 7
        status.memory?.heldBack = 5
        let busy = StatusCommand.report(of: status).text
        #expect(busy.contains("\n  closed to free capacity  7\n"))
        #expect(busy.contains("\n  reading paused           5 times\n"))
    }

    @Test func `the status shows a full disk, refused requests and the remedy`() throws {
        var status = AdminAPI.Status(
            version: "1.2.3", processID: 77, startedAt: .unixEpoch, serverURL: "https://a:1",
            dataDirectory: "/srv/posthorn",
            teamID: "T", counts: AdminAPI.Counts())
        #expect(!StatusCommand.report(of: status).text.contains("Disk"))
        #expect(try !StatusCommand.report(of: status).jsonText.contains("disk_full_since"))
        status.diskFullSince = Timestamp(unixSeconds: 1_800_000_000)
        let report = StatusCommand.report(of: status)
        #expect(report.text.contains("\nDisk full since           2027-01-15 "))
        #expect(report.text.contains("503 ServiceUnavailable") && report.text.contains("free space for /srv/posthorn"))
        #expect(try report.jsonText.contains(#""disk_full_since":1800000000"#))
    }

    @Test func `a message keeps its lines, indented`() {
        let entry = InboxRecord(
            .dictionary([
                ("entry", .int64(3)), ("id", .string("00ff")), ("app_id", .string("org.example.Mail")),
                ("app_name", .string("Mail")), ("verified", .bool(true)),
                ("title", .string("Hi")), ("body", .string("one\r\n\u{1B}[31mtwo\nState  viewed")),
                ("state", .string("suppressed")), ("reason", .string("master")), ("received_at", .int64(0)),
            ]))
        let text = InboxCommands.report(of: entry).text
        #expect(text.contains("\nID        00ff\n"))
        #expect(!text.contains("Channel"))
        let broadcast = InboxRecord(.dictionary([("channel", .string("c"))]))
        #expect(InboxCommands.report(of: broadcast).text.contains("\nChannel   c\n"))
        #expect(text.contains("App       Mail (org.example.Mail)") && text.contains("State     suppressed: master"))
        #expect(text.hasSuffix("\n\n  one\n  two\n  State  viewed"))
        let row = InboxCommands.report(of: [entry]).text.split(separator: "\n")[1]
        #expect(row.hasSuffix("Mail  suppressed: master, new  Hi: one two State  viewed"))
    }

    @Test func `register prints the device token alone`() throws {
        let report = RegisterCommands.report(appID: "a", token: "00ff", advice: ["W"])
        #expect(report.text == "00ff")
        #expect(try report.jsonText == #"{"advice":["W"],"app_id":"a","device_token":"00ff"}"#)
    }

    @Test func `an app's settings show each channel, and which ones the server lacks`() throws {
        let app = AppRecord(
            .dictionary([
                ("app_id", .string("a")), ("environment", .string("development")),
                ("channels", .array("s", [.string("one"), .string("two")])),
                ("pending_channels", .array("s", [.string("two")])),
            ]))
        let locked = SettingRecord(
            .dictionary([
                ("event", .string("NEWS")), ("name", .string("sound")), ("value", .string("off")),
                ("locked", .bool(true)), ("origin", .string("administrator")),
            ]))
        let administrators = SettingRecord(
            .dictionary([
                ("event", .string("")), ("name", .string("sound")), ("value", .string("off")),
                ("origin", .string("administrator")),
            ]))
        let advised = SettingsCommands.report(of: app, [administrators]).text
        #expect(advised.hasSuffix("sound    off    the administrator's default"), "\(advised)")
        let text = SettingsCommands.report(of: app, [locked]).text
        #expect(text.contains("\nEnvironment   development\n"))
        #expect(text.contains("\nChannels      one\n              two (pending; the server is not connected)\n"))
        #expect(text.hasSuffix("\nNEWS   sound    off    set by the administrator"))
        let json = try SettingsCommands.report(of: app, [locked]).jsonText
        let setting = #"{"event":"NEWS","locked":true,"name":"sound","origin":"administrator","value":"off"}"#
        #expect(json.contains("\"settings\":[\(setting)]"))
        #expect(json.contains(#""channels":["one","two"]"#) && json.contains(#""pending_channels":["two"]"#))
        #expect(SettingsCommands.report(of: AppRecord(.dictionary([])), []).text.contains("\nChannels      none\n"))
    }

    @Test(arguments: [
        ("active", "Subscribed a to channel c."), ("pending", "Saved the subscription of a to channel c."),
    ])
    func `subscribe reports whether the server has the subscription`(state: String, text: String) throws {
        let report = SubscribeCommands.report(appID: "a", channel: "c", state: state)
        #expect(report.text.hasPrefix(text))
        #expect(try report.jsonText == #"{"app_id":"a","channel":"c","state":"\#(state)"}"#)
    }

    @Test func `the agent's status shows a notice if there is one`() {
        let notice = StatusRecord(.dictionary([("notice", .string("a\nb"))]))
        #expect(AgentCommands.report(of: notice).text.contains("\nNotice           a"))
        #expect(!AgentCommands.report(of: StatusRecord(.dictionary([]))).text.contains("Notice"))
    }

    @Test func `a name that an app gave itself is marked, and an offered setting comes with its command`() {
        var entry = InboxRecord()
        (entry.appID, entry.appName, entry.offer) = ("org.example.Shop", "Your Bank", "time-sensitive")
        var app = AppRecord()
        (app.appID, app.name, app.offers) = ("org.example.Shop", "Your Bank", ["time-sensitive"])
        func texts() -> [String] {
            [
                InboxCommands.report(of: [entry]).text, InboxCommands.report(of: entry).text,
                SettingsCommands.report(of: app, []).text,
            ]
        }
        for text in texts() {
            #expect(text.contains("unverified: Your Bank"))
            #expect(text.hasSuffix("\n  posthorn settings set org.example.Shop time-sensitive on"))
        }
        (entry.isVerified, entry.offer, app.isVerified, app.offers) = (true, "", true, [])
        for text in texts() { #expect(!text.contains("unverified") && !text.contains("time-sensitive")) }
    }

    @Test(arguments: [(true, "Notifications are on."), (false, "Notifications are off (master switch).")])
    func `the master switch is shown above the settings`(master: Bool, head: String) throws {
        let app = AppRecord(
            .dictionary([
                ("app_id", .string("a")), ("allows_sound", .bool(true)), ("badge", .uint32(4)),
                ("alert_style", .string("banner")), ("verified", .bool(true)), ("device_token", .string("00ff")),
            ]))
        let personal = SettingRecord(
            .dictionary([("name", .string("master")), ("value", .string(master ? "on" : "off"))]))
        let report = SettingsCommands.report(deviceSettings: [personal], apps: [app])
        #expect(report.text.hasPrefix(head))
        #expect(report.text.contains("ALERT   BADGE COUNT  CHANNELS\n"))
        #expect(report.text.hasSuffix("\na          off    on     banner            4         0"))
        #expect(try report.jsonText.contains(#""name":"master","origin":"","value":"\#(master ? "on" : "off")""#))
    }

    @Test(
        arguments: [
            (true, 1_795_295_709, 0, "since 2026-11-2"), (false, 0, 1_795_295_709, "no; last 2026-11-2"),
            (false, 0, 0, "no; never connected"),
        ] as [(Bool, Int64, Int64, String)])
    func `the agent's status shows when it was last connected`(
        connected: Bool, since: Int64, last: Int64, text: String
    ) {
        let status = StatusRecord(
            .dictionary([
                ("enrolled", .bool(true)), ("connected", .bool(connected)), ("connected_since", .int64(since)),
                ("last_connected", .int64(last)),
            ]))
        #expect(AgentCommands.report(of: status).text.contains("Connected        \(text)"))
    }
}
