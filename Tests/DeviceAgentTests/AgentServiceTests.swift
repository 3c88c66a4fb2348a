// SPDX-License-Identifier: Apache-2.0

import PushSQL
import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import Foundation
import LinuxDesktop
import PushAPI
import PushCore
import PushDBus
import PushNet
import PushSQLite
import LoopTestSupport
import TestSupport
import Testing

@Suite(.serialized) struct AgentServiceTests {
    private let setup: ServiceSetup

    init() async throws { setup = try await ServiceSetup() }

    @Test func `the served introspection data is the repository's file`() throws {
        let path = "\(RepositoryPaths.root)/deploy/dbus/org.posthorn.Agent1.xml"
        #expect(AgentIntrospection.xml.description == readText(path))
    }

    @Test func `every method of the introspection data is answered`() async throws {
        let service = try setup.start()
        let xml = AgentIntrospection.xml.description
        let methods = xml.components(separatedBy: "<method name=\"").dropFirst().compactMap {
            $0.components(separatedBy: "\"").first
        }
        #expect(methods.count == 34)
        for method in methods { #expect(try await service.refusal(method, []) != "UnknownMethod", "\(method)") }
        #expect(try await service.refusal("Nonsense", []) == "UnknownMethod")
    }

    @Test func `an app whose events all use alerts is listed with advice`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let manifest = #"{"event_types":[{"id":"MAIL","name":"Mail","parts":["alert"]}]}"#
        for (text, count) in [(manifest, 1), ("{}", 0)] {
            let options = BusValue.dictionary([("manifest", .variant(.string(text)))])
            _ = try await service.call("Register", .string("org.example.Mail"), options).get()
            let apps = try await service.call("ListApps").get().first?.arrayValue
            let advice = apps?.first?[key: "advice"]?.arrayValue?.compactMap(\.stringValue)
            #expect(advice?.count == count)
            #expect(advice?.allSatisfy { $0.contains("Missing: badge, sound.") } == true)
        }
    }

    @Test func `an app enrols, registers, is listed and receives its notifications`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let options = BusValue.dictionary([("name", .variant(.string("My Mail")))])
        let token = try await service.call("Register", .string("org.example.Mail"), options).get()
        #expect(token.first?.stringValue?.utf8.count == 64)
        let apps = try await service.call("ListApps").get().first?.arrayValue
        #expect(apps?.first?[key: "name"]?.stringValue == "My Mail")
        #expect(apps?.first?[key: "device_token"]?.stringValue == token.first?.stringValue)
        try await setup.server.push(1, payload: #"{"aps":{"alert":{"title":"T","body":"B"},"badge":3}}"#)
        try await service.harness.loop.run("the signals came") {
            service.signals.contains("InboxChanged ") && service.signals.contains("BadgeChanged org.example.Mail")
        }
        // Every process on the bus receives this signal, so it does not contain the token.
        #expect(service.signals.contains("TokenChanged org.example.Mail"))
        let entries = try await service.call("ListInbox", .uint32(5)).get().first?.arrayValue
        #expect(entries?.count == 1)
        #expect(entries?.first?[key: "title"]?.stringValue == "T")
        #expect(entries?.first?[key: "app_name"]?.stringValue == "My Mail")
        #expect(entries?.first?[key: "state"]?.stringValue == "shown")
        let entry = try await service.call("GetInboxEntry", .int64(1)).get().first
        #expect(entry?[key: "payload"]?.stringValue == #"{"aps":{"alert":{"title":"T","body":"B"},"badge":3}}"#)
        #expect(try await service.call("ClearInbox", .string("")).get() == [.uint32(1)])
    }

    @Test func `the inbox can be searched, counted, marked as read and cleared by entry`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        _ = try await service.call("Register", .string("org.example.Mail"), .dictionary([])).get()
        try await setup.server.push(1, payload: #"{"aps":{"alert":"Lunch"}}"#)
        try await setup.server.push(2, payload: #"{"aps":{"alert":"Dinner"}}"#)
        try await service.harness.loop.run("both arrived") {
            service.signals.filter { $0.hasPrefix("NotificationArrived") }.count == 2
        }
        let found = try await service.call(
            "SearchInbox", .string("dinner"), .string(""), .string("unread"), .int64(0), .uint32(5)
        ).get().first?.arrayValue
        #expect(found?.count == 1 && found?.first?[key: "body"]?.stringValue == "Dinner")
        let counts = try await service.call("CountInbox").get()
        #expect(counts.first == .uint32(2) && counts.last?[key: "org.example.Mail"]?.integerValue == 2)
        #expect(try await service.call("MarkRead", .int64(1), .string("")).get() == [.uint32(1)])
        #expect(try await service.call("CountInbox").get().first == .uint32(1))
        let numbers = try await service.call("FindInbox", .string("N"), .string("unread")).get().first
        #expect(numbers?[key: "org.example.Mail"]?.arrayValue == [.int64(2)])
        #expect(try await service.refusal("FindInbox", [.string(""), .string("odd")]) == "BadValue")
        #expect(
            try await service.call("RemoveInboxEntries", .array("x", [.int64(0), .int64(9)])).get() == [.uint32(0)])
        #expect(
            try await service.call("MarkEntriesRead", .array("x", [.int64(0), .int64(9)])).get() == [.uint32(0)])
        #expect(
            try await service.call("MarkEntriesRead", .array("x", [.int64(1), .int64(2)])).get() == [.uint32(1)])
        #expect(try await service.call("RemoveInboxEntry", .int64(2)).get() == [])
        #expect(try await service.refusal("RemoveInboxEntry", [.int64(2)]) == "UnknownEntry")
        #expect(try await service.refusal("MarkRead", [.int64(2), .string("")]) == "UnknownEntry")
        #expect(try await service.call("CountInbox").get().first == .uint32(0))
        #expect(
            try await service.call("RemoveInboxEntries", .array("x", [.int64(2), .int64(1)])).get() == [.uint32(1)])
        #expect(try await service.call("ListInbox", .uint32(5)).get().first?.arrayValue?.isEmpty == true)
    }

    @Test func `an app selects its environment and subscribes to channels`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let app = BusValue.string("org.example.Mail")
        let options = BusValue.dictionary([("environment", .variant(.string("development")))])
        _ = try await service.call("Register", app, options).get()
        let channel = Sample.channel.text
        #expect(try await service.call("Subscribe", app, .string(channel)).get() == [.string("active")])
        try await setup.server.fail("/v1/stream", status: 503, count: 1000)
        try await setup.server.endStreams()
        try await service.harness.loop.run("the stream ended") { !service.harness.isConnected() }
        let other = Sample.otherChannel.text
        #expect(try await service.call("Subscribe", app, .string(other)).get() == [.string("pending")])
        let listed = try await service.call("ListApps").get().first?.arrayValue?.first
        #expect(listed?[key: "environment"]?.stringValue == "development")
        #expect(listed?[key: "channels"]?.arrayValue?.map(\.stringValue) == [channel, other])
        #expect(listed?[key: "pending_channels"]?.arrayValue?.map(\.stringValue) == [other])
        #expect(try await service.call("Unsubscribe", app, .string(channel)).get() == [])
        let rest = try await service.call("ListApps").get().first?.arrayValue?.first
        #expect(rest?[key: "channels"]?.arrayValue?.map(\.stringValue) == [other])
    }

    @Test func `a subscription that the server refuses causes a signal and a notice`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let app = BusValue.string("org.example.Mail")
        _ = try await service.call("Register", app, .dictionary([])).get()
        try await setup.server.fail(
            "/v1/apps/org.example.Mail/channels/%2F%2B%2B%2BAAAAAAAAAAAAAAAAAQ%3D%3D", status: 404,
            word: "UnknownChannel")
        let channel = BusValue.string(Sample.channel.text)
        #expect(try await service.refusal("Subscribe", [app, channel]) == "UnknownChannel")
        try await service.harness.loop.run("the signal came") {
            service.signals.contains("SubscriptionEnded org.example.Mail \(Sample.channel.text) UnknownChannel")
        }
        let status = try await service.call("GetStatus").get().first
        #expect(status?[key: "notice"]?.stringValue?.contains(Sample.channel.text) == true)
    }

    @Test func `a broadcast is listed with its channel, and other notifications without one`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        _ = try await service.call("Register", .string("org.example.Mail"), .dictionary([])).get()
        _ = try await service.call("Subscribe", .string("org.example.Mail"), .string(Sample.channel.text)).get()
        try await setup.server.broadcast(1, channel: Sample.channel.text)
        try await setup.server.push(2)
        try await service.harness.loop.run("both came") {
            (try? service.harness.agent.inbox.newest(countMax: 5).count) == 2
        }
        let entries = try await service.call("ListInbox", .uint32(5)).get().first?.arrayValue
        #expect(entries?.map { $0[key: "channel"]?.stringValue } == ["", Sample.channel.text])
    }

    @Test func `switches are saved, and changing one causes a signal`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        _ = try await service.call("Register", .string("org.example.Mail"), .dictionary([])).get()
        _ = try await service.set("org.example.Mail", "sound", "off").get()
        _ = try await service.set("", "master", "off").get()
        let master = try await service.call("GetSetting", .string(""), .string(""), .string("master")).get()
        #expect(master == [.string("off"), .bool(false)])
        let app = try await service.call("ListApps").get().first?.arrayValue?.first
        #expect(app?[key: "allows_sound"]?.boolValue == false && app?[key: "allows_badge"]?.boolValue == true)
        try await service.harness.loop.run("the signals came") {
            service.signals.contains("SettingsChanged org.example.Mail") && service.signals.contains("SettingsChanged ")
        }
    }

    @Test func `the first time-sensitive alert that was held back offers the setting until the user decides`()
        async throws
    {
        let service = try setup.start()
        try await setup.enrol(service)
        let app = "org.example.Mail"
        _ = try await service.call("Register", .string(app), .dictionary([])).get()
        _ = try await service.set("", "do-not-disturb", "on").get()
        try await setup.server.push(1, payload: #"{"aps":{"alert":"Lunch"}}"#)
        for number in [2, 3] {
            try await setup.server.push(
                number, payload: #"{"aps":{"alert":"Fire \#(number)","interruption-level":"time-sensitive"}}"#)
        }
        try await service.harness.loop.run("all arrived") {
            service.signals.filter { $0.hasPrefix("NotificationArrived") }.count == 3
        }
        #expect(try await offers(service) == ["", "time-sensitive", "", "time-sensitive"])
        for value in ["off", "on"] {
            service.signals = []
            _ = try await service.set(app, "time-sensitive", value).get()
            #expect(try await offers(service) == ["", "", ""])
            try await service.harness.loop.run("the entries are read again") {
                service.signals.contains("InboxChanged ")
            }
        }
        _ = try await service.set(app, "time-sensitive", "").get()
        #expect(try await offers(service) == ["", "time-sensitive", "", "time-sensitive"])
        try service.harness.database.policy.replaceAll([
            .init(topic: nil, setting: .timeSensitive, value: "off", isLocked: true)
        ])
        #expect(try await offers(service) == ["", "", ""])
    }

    @Test(arguments: [
        ("{}", false), (#"{"picture_hosts":["images.example.org"]}"#, true), (#"{"filter":"bus"}"#, true),
    ])
    func `an app can have pictures if it names a host or has a filter`(manifest: String, canHave: Bool) async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let options = BusValue.dictionary([("manifest", .variant(.string(manifest)))])
        _ = try await service.call("Register", .string("org.example.Mail"), options).get()
        let app = try await service.call("ListApps").get().first?.arrayValue?.first
        #expect(app?[key: "can_have_pictures"]?.boolValue == canHave)
    }

    @Test func `an app is listed with the end of its mute while it is muted`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let app = "org.example.Mail"
        _ = try await service.call("Register", .string(app), .dictionary([])).get()
        let now = Timestamp.now.unixSeconds
        for (value, seconds) in [("until \(now + 3600)", now + 3600), ("off", 0)] {
            _ = try await service.set(app, "muted", value).get()
            let listed = try await service.call("ListApps").get().first?.arrayValue?.first
            #expect(listed?[key: "muted_until"]?.integerValue == seconds, "\(value)")
        }
    }

    @Test func `an app that registers with another manifest is announced, and otherwise is not`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        for (manifest, count) in [("{}", 1), ("{}", 1), (#"{"filter":"bus"}"#, 2)] {
            let options = BusValue.dictionary([("manifest", .variant(.string(manifest)))])
            _ = try await service.call("Register", .string("org.example.Mail"), options).get()
            try await service.harness.loop.run("the signals are sent") {
                service.signals.filter { $0 == "SettingsChanged org.example.Mail" }.count >= count
            }
            #expect(service.signals.filter { $0 == "SettingsChanged org.example.Mail" }.count == count)
        }
    }

    @Test func `a thousand apps are listed, and one more is refused`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        let database = service.harness.database
        try database.transaction { () throws(SQLError) in
            for number in 1...RegistrationService.appCountMax {
                var app = Sample.app
                app.appID = AppID("org.example.app\(number)")
                app.topic = TopicName(app.appID.text)
                try database.apps.save(app)
            }
        }
        #expect(try await service.call("ListApps").get().first?.arrayValue?.count == 1000)
        #expect(try await service.refusal("Register", [.string("org.example.Mail"), .dictionary([])]) == "TooMany")
        _ = try await service.call("Register", .string("org.example.app7"), .dictionary([])).get()
    }

    /// Returns the offers of all entries, newest first, and those of the app.
    private func offers(_ service: ServiceHarness) async throws -> [String] {
        let entries = try await service.call("ListInbox", .uint32(5)).get().first?.arrayValue ?? []
        let apps = try await service.call("ListApps").get().first?.arrayValue ?? []
        return entries.compactMap { $0[key: "offer"]?.stringValue }
            + apps.flatMap { $0[key: "offers"]?.arrayValue ?? [] }.compactMap(\.stringValue)
    }

    @Test func `the status reports whether the agent is connected`() async throws {
        let service = try setup.start()
        let before = try await service.call("GetStatus").get().first
        #expect(before?[key: "enrolled"]?.boolValue == false && before?[key: "connected"]?.boolValue == false)
        try await setup.enrol(service)
        let after = try await service.call("GetStatus").get().first
        #expect(after?[key: "connected"]?.boolValue == true)
        #expect(after?[key: "server_url"]?.stringValue == setup.server.url)
        #expect(after?[key: "pid"]?.integerValue == Int64(getpid()))
    }

    @Test func `a connection change causes a signal, and the same failure again does not`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        // The answer follows the signals that were sent before it.
        func told() async throws -> (signalCount: Int, status: BusValue?) {
            let status = try await service.call("GetStatus").get().first
            return (service.signals.count { $0.hasPrefix("StatusChanged") }, status)
        }
        let open = try await told()
        #expect(open.signalCount > 0 && open.status?[key: "connected_since"]?.integerValue ?? 0 > 0)
        for reason in ["refused", "refused", "refused again"] {
            service.harness.agent.link.streamEnded(.init(.server, reason))
        }
        let ended = try await told()
        #expect(ended.signalCount == open.signalCount + 2)
        #expect(ended.status?[key: "connected"]?.boolValue == false)
        #expect(ended.status?[key: "connected_since"]?.integerValue == 0)
        #expect(ended.status?[key: "last_connected"]?.integerValue ?? 0 > 0)
        #expect(ended.status?[key: "next_try"]?.integerValue == 0)
        #expect(ended.status?[key: "last_error"]?.stringValue == "refused again")
    }

    static let refusals: [(String, [BusValue], String)] = [
        ("Register", [.string("org.example.Mail"), .dictionary([])], "NotEnrolled"),
        (
            "Register", [.string("org.example.Mail"), .dictionary([("colour", .variant(.string("x")))])],
            "InvalidArguments"
        ),
        ("Register", [.string("../x"), .dictionary([])], "BadAppID"), ("Register", [.string("x")], "InvalidArguments"),
        (
            "Register", [.string("org.example.Mail"), .dictionary([("environment", .variant(.string("sandbox")))])],
            "BadEnvironment"
        ),
        ("Subscribe", [.string("org.example.Mail"), .string("c")], "BadChannelID"),
        ("Subscribe", [.string("x"), .string(Sample.channel.text)], "UnknownApp"),
        ("Subscribe", [.string("x")], "InvalidArguments"),
        ("Unsubscribe", [.string("x"), .string(Sample.channel.text)], "UnknownChannel"),
        ("Unsubscribe", [.string("x"), .uint32(1)], "InvalidArguments"),
        ("Register", [.int32(1), .dictionary([])], "InvalidArguments"), ("Unregister", [.string("x")], "UnknownApp"),
        ("Unenrol", [], "NotEnrolled"), ("Forget", [], "NotEnrolled"),
        ("Enrol", [.string("http://x"), .string(""), .string("")], "BadServer"),
        ("Enrol", [.string("https://x"), .string(""), .string("ca.pem")], "BadServer"),
        ("SetSetting", [.string("x"), .string(""), .string("badge"), .string("on")], "UnknownApp"),
        ("SetSetting", [.string(""), .string(""), .string("colour"), .string("on")], "UnknownSetting"),
        ("SetSetting", [.string(""), .string(""), .string("badge"), .string("on")], "UnknownSetting"),
        ("SetSetting", [.string(""), .string(""), .string("master"), .string("yes")], "BadValue"),
        ("SetSetting", [.string(""), .string(""), .string("master"), .bool(true)], "InvalidArguments"),
        ("GetSetting", [.string(""), .string(""), .string("")], "UnknownSetting"),
        ("GetInboxEntry", [.int64(1)], "UnknownEntry"),
        ("GetInboxEntry", [.int64(.min)], "UnknownEntry"), ("ListInbox", [.int64(1)], "InvalidArguments"),
        ("AnswerAlert", [.int64(1), .string("close"), .string(""), .string(""), .string("")], "UnknownEntry"),
        ("AnswerAlert", [.int64(1), .string("yes"), .string(""), .string(""), .string("")], "BadValue"),
        ("OpenEntry", [.int64(1), .string("")], "UnknownEntry"),
        ("OpenApp", [.string("x"), .string("")], "UnknownApp"),
        ("ClearInbox", [.string(String(repeating: "x", count: 65_537))], "InvalidArguments"),
    ]

    @Test func `invalid calls are refused with an error name`() async throws {
        let service = try setup.start()
        for (member, arguments, name) in Self.refusals {
            #expect(try await service.refusal(member, arguments) == name, "\(member) \(arguments)")
        }
    }

    @Test func `text that a bus cannot carry does not suppress the rest of an answer`() async throws {
        let service = try setup.start()
        try await setup.enrol(service)
        _ = try await service.call("Register", .string("org.example.Mail"), .dictionary([])).get()
        // A Swift literal cannot contain a noncharacter.
        let raw = [0xFDD0, 0x1FFFF].compactMap(Unicode.Scalar.init).map(String.init).joined()
        try await setup.server.push(1, payload: #"{"aps":{"alert":{"title":"a\u0000b","body":"\uFFFE\uFDD0c"}}}"#)
        try await setup.server.push(2, payload: #"{"aps":{"alert":"raw \#(raw)text"}}"#)
        try await service.harness.loop.run("both came") {
            (try? service.harness.agent.inbox.newest(countMax: 5).count) == 2
        }
        let entries = try await service.call("ListInbox", .uint32(5)).get().first?.arrayValue
        #expect(entries?.map { $0[key: "body"]?.stringValue } == ["raw text", "c"])
        let entry = try await service.call("GetInboxEntry", .int64(1)).get().first
        #expect(entry?[key: "title"]?.stringValue == "ab")
        try await setup.server.push(
            event: "goodbye", data: #"{"reason":"a\u0000\uFFFF\uFDEFb\nMAINPID=1","retry_after":3600}"#)
        try await setup.server.endStreams()
        try await service.harness.loop.run("the stream ended") { !service.harness.isConnected() }
        let status = try await service.call("GetStatus").get().first
        #expect(status?[key: "last_error"]?.stringValue == "the server ended the stream: ab\nMAINPID=1")
        let nextTry = status?[key: "next_try"]?.integerValue ?? 0
        #expect(nextTry > 0 && abs(nextTry - Int64(Date().timeIntervalSince1970) - 3600) < 60, "as the server asked")
        let line = service.harness.agent.status(now: .unixEpoch).line
        #expect(line == "Not connected to \(setup.server.url): the server ended the stream: ab MAINPID=1")
    }

    @Test func `a second program does not get the bus name`() throws {
        let service = try setup.start()
        let other = try BusConnection(.address(setup.bus.address))
        #expect(try other.requestName(AgentInterface.name) == false)
        withExtendedLifetime(service) {}
    }

    @Test func `a bus name that another program owned is taken when it leaves`() async throws {
        var other: BusConnection? = try BusConnection(.address(setup.bus.address))
        #expect(try other?.requestName(AgentInterface.name) == true)
        let service = try setup.start()
        let owner = { try service.client.owner(of: AgentInterface.name) }
        let otherName = try #require(other?.uniqueName)
        #expect(try owner() == otherName)
        other = nil
        try await service.harness.loop.run("the name is the agent's") {
            guard let name = try? owner() else { return false }
            return name != otherName
        }
        #expect(try await service.call("GetStatus").get().count == 1)
    }
}
