// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
@testable import DeviceAgent
import Foundation
import LinuxDesktop
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

private final class Opener: AppOpener {
    var opened: [String] = []
    var failure: AppOpenError?

    func open(
        appID: AppID, notification: [UInt8], action: ChosenAction?, activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        opened.append("\(appID) \(activationToken ?? "-") \(String(decoding: notification, as: UTF8.self))")
        completion(failure.map { .failure($0) } ?? .success(()))
    }

    func launch(
        appID: AppID, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        Issue.record("View opened the app without the notification")
    }

    func open(
        _ link: NotificationLink, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        Issue.record("View opened a link instead of the app")
    }

    func act(
        appID: AppID, notification: [UInt8], action: ChosenAction,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        Issue.record("View passed a button on")
    }

    func wake(appID: AppID, notification: [UInt8], completion: @escaping (Result<Void, AppOpenError>) -> Void) {
        Issue.record("View woke the app")
    }
}

private final class AbsentPresenter: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)?
    let isAvailable = false
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {}
    func withdraw(entries: [EntryID]) {}
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
}

private final class Dock: BadgePresenter {
    var badges: [String] = []
    func setBadge(_ count: UInt32, appID: AppID) { badges.append("\(appID) \(count)") }
}

@Suite(.serialized) struct AgentTests {
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
    }

    private func connected(
        opener: (any AppOpener)? = nil, badges: (any BadgePresenter)? = nil
    ) async throws -> AgentHarness {
        try await .connected(in: directory, to: server, opener: opener, badges: badges)
    }

    @Test func `enrolling saves identity and secret, and a restart connects with them`() async throws {
        do {
            let harness = try await connected()
            #expect(try harness.secretFile.read() == "s3cret")
            let form =
                /POST \/v1\/devices {"code":"C0DE","name":"test","platform":"linux","request_id":"[0-9a-f-]{36}"}/
            #expect(server.requests.first?.wholeMatch(of: form) != nil, "\(server.requests)")
            var hasStopped = false
            harness.agent.stop { hasStopped = true }
            try await harness.loop.run("the agent has stopped") { hasStopped }
        }
        let again = try AgentHarness(in: directory)
        try again.agent.start()
        try await again.loop.run("the stream is open again") { again.isConnected() }
        #expect(server.requests("GET /v1/stream").count == 2)
        #expect(try again.database.apps.all().map(\.name) == ["Example Mail"])
    }

    @Test func `a notification is shown, and the server is notified of its arrival and display`() async throws {
        let harness = try await connected()
        try await server.push(1)
        try await harness.loop.run("both are acknowledged") {
            server.requests("POST /v1/acks").joined().contains("shown")
                && (try? harness.database.outboxLines().isEmpty) == true
        }
        #expect(harness.screen.hasPrefix("[Example Mail] Hello"))
        #expect(server.requests("POST /v1/acks").joined().contains(#""outcome":"delivered""#))
        try await harness.loop.run("clients hear of it") { harness.events.contains("inbox") }
    }

    @Test func `a repeated notification is shown once and acknowledged twice`() async throws {
        let harness = try await connected()
        try await server.push(1)
        try await server.push(1)
        try await server.push(2, payload: #"{"aps":{"alert":"Bye"}}"#)
        try await harness.loop.run("the last is shown") { harness.screen.contains("inbox show 2") }
        #expect(harness.screen.components(separatedBy: "[Example Mail]").count == 3)
    }

    @Test func `acknowledgements survive failures and restarts until the server accepts them`() async throws {
        do {
            let harness = try await connected()
            try await server.fail("/v1/acks", status: 503, count: 1000)
            try await server.push(1)
            try await harness.loop.run("it was refused") { !server.requests("POST /v1/acks").isEmpty }
            var hasStopped = false
            harness.agent.stop(within: .milliseconds(100)) { hasStopped = true }
            try await harness.loop.run("the agent has stopped") { hasStopped }
            #expect(try harness.database.outboxLines() == ["1 delivered", "1 shown"])
        }
        try await server.fail("/v1/acks", status: 503, count: 0)
        let again = try AgentHarness(in: directory)
        try again.agent.start()
        try await again.loop.run("the outbox is empty") { (try? again.database.outboxLines().isEmpty) == true }
        #expect(again.screen.isEmpty)
    }

    @Test func `acknowledgements that the server calls invalid are dropped, not sent forever`() async throws {
        let harness = try await connected()
        try await server.fail("/v1/acks", status: 400, count: 1000)
        try await server.push(1)
        try await harness.loop.run("the outbox is empty") {
            !server.requests("POST /v1/acks").isEmpty && (try? harness.database.outboxLines().isEmpty) == true
        }
        try await harness.loop.run("the stream is open") { harness.isConnected() }
    }

    @Test func `View opens the app once, with the payload as it was sent`() async throws {
        let opener = Opener()
        let harness = try await connected(opener: opener)
        let payload = #"{"aps":{"alert":{"title":"T","body":"B"}}, "n": 1.50}"#
        try await server.push(1, payload: payload)
        try await harness.loop.run("it is shown") { !harness.screen.isEmpty }
        harness.agent.alerts.alert(1, ended: .view(activationToken: "tok"))
        harness.agent.alerts.alert(1, ended: .view(activationToken: "tok"))
        harness.agent.alerts.alert(1, ended: .dismissed)
        let entry = try #require(try harness.agent.inbox.entry(1))
        #expect(
            opener.opened == [
                #"org.example.Mail tok {"app_id":"org.example.Mail","topic":"org.example.Mail","apns_id":"A","#
                    + #""unique_id":"00000000-0000-4000-8000-000000000001","title":"T","body":"B","#
                    + #""received_at":\#(entry.receivedAt.unixMilliseconds),"payload":\#(payload)}"#
            ])
        #expect(entry.state == .viewed)
        try await harness.loop.run("the server knows") { server.requests("POST /v1/acks").joined().contains("viewed") }
    }

    @Test func `an app that cannot be opened leaves a reason in the inbox`() async throws {
        let opener = Opener()
        opener.failure = .noDesktopFile(appID: "org.example.Mail")
        let harness = try await connected(opener: opener)
        try await server.push(1)
        try await harness.loop.run("it is shown") { !harness.screen.isEmpty }
        harness.agent.alerts.alert(1, ended: .view(activationToken: nil))
        #expect(try harness.agent.inbox.entry(1)?.reason.contains("org.example.Mail.desktop") == true)
    }

    @Test func `Close does not open the app, and an alert that expired on screen stays shown`() async throws {
        let opener = Opener()
        let harness = try await connected(opener: opener)
        try await server.push(1)
        try await server.push(2)
        try await harness.loop.run("both are shown") { harness.screen.contains("inbox show 2") }
        harness.agent.alerts.alert(1, ended: .dismissed)
        harness.agent.alerts.alert(2, ended: .expired)
        #expect(try harness.agent.inbox.newest(countMax: 10).map(\.state) == [.shown, .closed])
        #expect(opener.opened.isEmpty)
    }

    @Test func `a missing sound can be neither selected nor played`() async throws {
        let harness = try await connected()
        let chosen = #expect(throws: AgentRefusal.self) {
            try harness.agent.settings.set("sound-name", appID: "org.example.Mail", event: "", to: "nosuch")
        }
        let played = #expect(throws: AgentRefusal.self) {
            try harness.agent.sounds.play("nosuch", appID: "org.example.Mail")
        }
        #expect(chosen?.code == .badValue)
        #expect(played?.code == .unknownSound)
        // No other sound exists either, so listing the sounds would not help.
        #expect(chosen?.message == played?.message && played?.message.contains("not even the built-in ones") == true)
        try directory.makeDirectory("data/posthorn/sounds/org.example.Mail")
        try directory.write("x", to: "data/posthorn/sounds/org.example.Mail/ping.oga")
        let told = #expect(throws: AgentRefusal.self) {
            try harness.agent.sounds.play("nosuch", appID: "org.example.Mail")
        }
        #expect(told?.message.contains("Run 'posthorn sound list org.example.Mail'") == true)
    }

    @Test func `a desktop without a notification server shows nothing`() throws {
        let agent = Agent(
            loop: try EventLoop(), database: try AgentDatabase(path: directory.path(of: "agent.sqlite")),
            secretFile: SecretFile(path: directory.path(of: "secret")),
            authorityFile: EnrolledAuthority(path: directory.path(of: "authority.pem")),
            environment: AgentEnvironment(
                presenterName: "desktop", presenter: AbsentPresenter(), describeApp: { _ in nil }))
        #expect(agent.status(now: .unixEpoch).presenter == "none")
    }

    @Test func `badges follow the switches immediately, and return with their current number`() async throws {
        let dock = Dock()
        let harness = try await connected(badges: dock)
        try await server.push(1, payload: #"{"aps":{"badge":3}}"#)
        try await harness.loop.run("the badge is there") { dock.badges == ["org.example.Mail 3"] }
        try harness.agent.settings.set("badge", appID: "org.example.Mail", event: "", to: "off")
        try harness.agent.settings.set("badge", appID: "org.example.Mail", event: "", to: "on")
        try harness.agent.settings.set("master", appID: nil, event: "", to: "off")
        try await server.push(2, payload: #"{"aps":{"badge":5}}"#)
        try await harness.loop.run("it came") { (try? harness.agent.inbox.newest(countMax: 10).count) == 2 }
        try harness.agent.settings.set("master", appID: nil, event: "", to: "on")
        #expect(dock.badges.map { $0.suffix(1) } == ["3", "0", "3", "0", "5"])
        #expect(
            try await harness.unregister("org.example.Mail")
                == nil)
        #expect(dock.badges.last == "org.example.Mail 0")
    }

    @Test func `an app with all effects off is filtered at the server until one is on again`() async throws {
        let harness = try await connected()
        for setting in ["badge", "sound", "alert"] {
            try harness.agent.settings.set(setting, appID: "org.example.Mail", event: "", to: "off")
        }
        try await server.fail("/v1/filter", status: 500)
        try await harness.loop.run("the server knows") {
            server.requests.contains(#"PUT /v1/filter {"refused_topics":["org.example.Mail"]}"#)
        }
        try harness.agent.settings.set("sound", appID: "org.example.Mail", event: "", to: "on")
        try await harness.loop.run("the server knows that too") {
            server.requests.last == #"PUT /v1/filter {"refused_topics":[]}"#
                && (try? harness.database.state.value(of: .isFilterDue)) == 0
        }
    }

    @Test func `a stream that ends is reopened without an alert`() async throws {
        let harness = try await connected()
        try await server.endStreams()
        try await harness.loop.run("it noticed") { !harness.isConnected() }
        let status = harness.agent.status(now: .unixEpoch)
        #expect(status.lastError == "the server closed the stream" && status.lastConnectedAt != nil)
        try await harness.loop.run("it is open again") { harness.isConnected() }
        #expect(harness.screen.isEmpty)
        #expect(harness.agent.status(now: Timestamp(unixSeconds: 7)).lastConnectedAt?.unixSeconds == 7)
    }

    @Test(arguments: [503, 500, 404]) func `a refused stream is requested again`(status: Int) async throws {
        let harness = try await connected()
        // A 404 may mean that the server has no WebSocket, so the agent requests events immediately.
        try await server.fail("/v1/stream", status: status, count: status == 404 ? 2 : 1)
        try await server.endStreams()
        try await harness.loop.run("the refusal is in the status") {
            harness.agent.status(now: .unixEpoch).lastError.contains("\(status)")
        }
        try await harness.loop.run("it is open again") { harness.isConnected() }
    }

    @Test func `a server that deleted the device is not asked again, and the device can leave it`() async throws {
        let harness = try await connected()
        try await server.fail("/v1/stream", status: 401, count: 1000)
        try await server.endStreams()
        try await harness.loop.run("it gave up") {
            harness.agent.status(now: .unixEpoch).lastError.contains("removed from the server")
        }
        #expect(harness.agent.status(now: .unixEpoch).isRemoved)
        try await server.fail("/v1/apps/org.example.Mail", status: 401)
        let again = try await harness.register("org.example.Mail")
        #expect(again == .failure(AgentRefusal(.deviceRemoved, "This device was removed from the server.")))
        let count = server.requests("GET /v1/stream").count
        harness.agent.wake()
        try await server.fail("/v1/devices/self", status: 401)
        #expect(try await harness.unenrol() == nil)
        #expect(server.requests("GET /v1/stream").count == count)
        #expect(try harness.secretFile.read() == nil)
        let status = harness.agent.status(now: .unixEpoch)
        #expect(!status.isEnrolled && !status.isRemoved)
    }

    @Test func `a goodbye message tells a device that it was removed`() async throws {
        let harness = try await connected()
        try await server.push(event: "goodbye", data: #"{"reason":"removed","retry_after":3600}"#)
        try await server.endStreams()
        try await harness.loop.run("it gave up") {
            harness.agent.status(now: .unixEpoch).lastError.contains("removed from the server")
        }
    }

    @Test func `registered apps get new tokens at the next server`() async throws {
        let harness = try await connected()
        #expect(try await harness.unenrol() == nil)
        #expect(try harness.agent.registrations.apps().map(\.deviceToken) == [""])
        #expect(try await harness.register("org.example.Mail") == .failure(.init(.notEnrolled, notEnrolledText)))
        _ = try await harness.enrol(with: server)
        try await harness.loop.run("it has a token") {
            (try? harness.agent.registrations.apps().first?.deviceToken.count) == 64
        }
        #expect(harness.events.filter { $0.hasPrefix("token") }.count == 2)
    }

    @Test func `leaving a server removes the badges`() async throws {
        let dock = Dock()
        let harness = try await connected(badges: dock)
        try await server.push(1, payload: #"{"aps":{"badge":3}}"#)
        try await harness.loop.run("the badge is there") { dock.badges == ["org.example.Mail 3"] }
        #expect(try await harness.unenrol() == nil)
        #expect(dock.badges.last == "org.example.Mail 0" && harness.events.contains("badge org.example.Mail 0"))
        #expect(try harness.agent.registrations.apps().map(\.badge) == [0])
        _ = try await harness.enrol(with: server)
        try await server.push(2, payload: #"{"aps":{"badge":4}}"#)
        try await harness.loop.run("a badge is there again") { dock.badges.last == "org.example.Mail 4" }
    }

    @Test func `a topic that the server does not know is named`() async throws {
        let harness = try await connected()
        try await server.fail("/v1/apps/org.example.Other", status: 404, word: "UnknownTopic")
        let result = try await harness.register("org.example.Other")
        #expect(
            result == .failure(AgentRefusal(.unknownTopic, "The server has no app with topic 'org.example.Other'.")))
    }

    private var notEnrolledText: String {
        "This device is not enrolled."
    }

    @Test func `a server that is gone can be forgotten without a request`() async throws {
        let harness = try await connected()
        try await server.kill()
        #expect(try await harness.unenrol()?.code == .unreachable)
        #expect(harness.agent.status(now: .unixEpoch).isEnrolled)
        try harness.agent.enrolment.forget()
        #expect(!harness.agent.status(now: .unixEpoch).isEnrolled)
        #expect(try harness.secretFile.read() == nil)
        #expect(try harness.agent.registrations.apps().map(\.deviceToken) == [""])
        #expect(throws: AgentRefusal(.notEnrolled, notEnrolledText)) { try harness.agent.enrolment.forget() }
    }

    @Test func `clearing the inbox removes the entries of the given app only`() async throws {
        let harness = try await connected()
        try await server.push(1)
        try await harness.loop.run("it is shown") { !harness.screen.isEmpty }
        #expect(try harness.agent.inbox.clear(appID: "org.example.Other") == 0)
        #expect(try harness.agent.inbox.clear(appID: "org.example.Mail") == 1)
        #expect(try harness.agent.inbox.newest(countMax: 10).isEmpty)
    }

    @Test func `an invalid event does not end the stream`() async throws {
        let harness = try await connected()
        try await server.push(event: "notification", id: 5, data: #"{"id":5}"#)
        try await server.push(event: "something-new", data: "x")
        try await server.push(6)
        try await harness.loop.run("the next is shown") { !harness.screen.isEmpty }
        try await harness.loop.run("the bad one is acknowledged") {
            server.requests("POST /v1/acks").joined().contains(#""reason":"unreadable""#)
        }
    }
}
