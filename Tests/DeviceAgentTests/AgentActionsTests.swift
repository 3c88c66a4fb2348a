// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import Foundation
import LinuxDesktop
import PushAPI
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// An app that records the calls that it receives.
final class RecordingApp: AppOpener {
    var calls: [String] = []
    var notifications: [String] = []
    var failure: AppOpenError?

    func open(
        appID: AppID, notification: [UInt8], action: ChosenAction?, activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        answer("open \(action?.id ?? "-") \(action?.text ?? "-") \(activationToken ?? "-")", notification, completion)
    }

    func launch(
        appID: AppID, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        answer("launch \(activationToken ?? "-")", [], completion)
    }

    func open(
        _ link: NotificationLink, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        answer("link \(link.text) \(activationToken ?? "-")", [], completion)
    }

    func act(
        appID: AppID, notification: [UInt8], action: ChosenAction,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        answer("act \(action.id) \(action.text ?? "-")", notification, completion)
    }

    func wake(appID: AppID, notification: [UInt8], completion: @escaping (Result<Void, AppOpenError>) -> Void) {
        answer("wake", notification, completion)
    }

    private func answer(
        _ call: String, _ notification: [UInt8], _ completion: (Result<Void, AppOpenError>) -> Void
    ) {
        calls.append(call)
        notifications.append(String(decoding: notification, as: UTF8.self))
        completion(failure.map { .failure($0) } ?? .success(()))
    }
}

struct AgentActionsTests {
    private let directory: TemporaryDirectory
    private let app = RecordingApp()

    init() throws { directory = try TemporaryDirectory() }

    private static let manifest = """
        {"categories": [{"id": "mail", "actions": [
            {"id": "open", "title": "Open", "foreground": true}, {"id": "archive", "title": "Archive"},
            {"id": "reply", "title": "Reply", "text": true}]}]}
        """

    /// Returns an agent that shows one notification of the category.
    private func agentWithAlert() throws -> AgentHarness {
        let harness = try AgentHarness(in: directory, opener: app)
        try harness.agent.start()
        var mail = Sample.app
        mail.manifestText = Array(Self.manifest.utf8)
        try harness.database.apps.save(mail)
        let payload = #"{"aps":{"alert":"Hello","category":"mail"},"n":1.50}"#
        #expect(harness.agent.link.streamReceived([.notification(Sample.notification(1, payload: payload))]))
        #expect(try harness.database.inbox.entry(1)?.state == .shown)
        return harness
    }

    private func outcomes(_ harness: AgentHarness) throws -> [String] {
        Array(try harness.database.outboxLines().dropFirst(2))
    }

    @Test(arguments: [
        ("open", nil, "open open -"), ("open", "text", "open open text"), ("reply", nil, "open reply -"),
        ("gone", nil, "open gone -"),
    ])
    func `a button that needs the app opens it once`(id: String, text: String?, call: String) throws {
        let harness = try agentWithAlert()
        for _ in 1...2 {
            harness.agent.alerts.alert(1, ended: .action(id: id, text: text, activationToken: "token"))
            harness.agent.alerts.alert(1, ended: .view(activationToken: "token"))
        }
        #expect(app.calls == ["\(call) token"])
        #expect(app.notifications[0].contains(#""action":"\#(id)","text":"\#(text ?? "")""#))
        #expect(app.notifications[0].hasSuffix(#""payload":{"aps":{"alert":"Hello","category":"mail"},"n":1.50}}"#))
        #expect(try harness.database.inbox.entry(1)?.state == .viewed)
        #expect(try outcomes(harness) == ["1 viewed"])
    }

    @Test(arguments: [("archive", nil, "act archive -", "Archive"), ("reply", "At noon", "act reply At noon", "Reply")])
    func `a button that does not open the app is passed to it once`(
        id: String, text: String?, call: String, title: String
    ) throws {
        let harness = try agentWithAlert()
        for _ in 1...2 { harness.agent.alerts.alert(1, ended: .action(id: id, text: text, activationToken: nil)) }
        harness.agent.alerts.alert(1, ended: .view(activationToken: nil))
        #expect(app.calls == [call])
        let entry = try #require(try harness.database.inbox.entry(1))
        #expect(entry.state == .closed)
        #expect(entry.reason == "\(title): passed to the app")
        #expect(try outcomes(harness) == ["1 closed"])
    }

    @Test func `a click on a full disk opens the app once, and is written when there is space`() async throws {
        try DatabaseFile.makeFillable(directory.path(of: "agent.sqlite"))
        let harness = try agentWithAlert()
        try harness.database.fill(true)
        for _ in 1...2 { harness.agent.alerts.alert(1, ended: .view(activationToken: "token")) }
        #expect(app.calls == ["open - - token"])
        #expect(try harness.database.inbox.entry(1)?.state == .shown)
        try harness.database.fill(false)
        try await harness.loop.run("it is written") { try harness.database.inbox.entry(1)?.state == .viewed }
        harness.agent.alerts.alert(1, ended: .view(activationToken: "token"))
        #expect(app.calls.count == 1)
        #expect(try outcomes(harness) == ["1 viewed"])
    }

    @Test func `an app that cannot be reached leaves a line in the inbox`() throws {
        let harness = try agentWithAlert()
        app.failure = .noDesktopFile(appID: "org.example.Mail")
        harness.agent.alerts.alert(1, ended: .action(id: "archive", text: nil, activationToken: nil))
        let entry = try #require(try harness.database.inbox.entry(1))
        #expect(
            entry.reason
                == "app-not-installed: Archive: no org.example.Mail.desktop in the applications folders"
        )
    }

    // MARK: Buttons of a notification

    @Test func `a notification brings buttons with it: View, a link and a request`() async throws {
        let server = try await PictureServer()
        let harness = try AgentHarness(in: directory, opener: app, buttonAuthority: server.caFile)
        try harness.agent.start()
        try harness.database.apps.save(Sample.app)
        let actions = #"""
            "posthorn-actions":[{"title":"Log","url":"https://example.org/log"},
            {"title":"Retry","request":{"url":"\#(server.url("pressed"))","method":"put","headers":{"X-Key":"k"},"body":"x"}},
            {"title":"Old","request":{"url":"\#(server.url("gone"))"}}]
            """#
        for number in 1...4 as ClosedRange<UInt64> {
            let payload = #"{"aps":{"alert":"Hello \#(number)"},\#(actions)}"#
            #expect(harness.agent.link.streamReceived([.notification(Sample.notification(number, payload: payload))]))
        }
        let ids = ["message.0", "message.1", "message.2", "message.9"]
        let entries: [EntryID] = [1, 2, 3, 4]
        for (entry, id) in zip(entries, ids) {
            for _ in 1...2 {
                harness.agent.alerts.alert(entry, ended: .action(id: id, text: nil, activationToken: "token"))
            }
        }
        func reason(_ entry: EntryID) throws -> String { try #require(try harness.database.inbox.entry(entry)).reason }
        try await harness.loop.run("both requests are answered") {
            try reason(2) == "Retry: sent" && reason(3) == "Old: localhost answered 404"
        }
        #expect(Set(server.requests) == ["PUT /pressed k x", "POST /gone - "])
        // A button that the notification does not have opens the app.
        #expect(app.calls == ["link https://example.org/log token", "open message.9 - token"])
    }

    // MARK: Background notifications

    private static let background = #"{"aps":{"content-available":1},"n":7}"#

    @Test(arguments: [
        (background, #"{"background":true}"#, true, ["wake"], "woke-app"),
        (background, #"{"background":true}"#, false, [], "nothing-to-show"),
        (background, "{}", true, [], "nothing-to-show"),
        (#"{"aps":{}}"#, #"{"background":true}"#, true, [], "nothing-to-show"),
        (#"{"aps":{"content-available":1,"alert":"Hello"}}"#, #"{"background":true}"#, true, ["wake"], ""),
        (#"{"aps":{"content-available":1,"alert":"Hello"}}"#, #"{"background":true}"#, false, [], "master-off"),
    ])
    func `an app that supports it is woken, and never while the master switch is off`(
        payload: String, manifest: String, isMasterOn: Bool, calls: [String], reason: String
    ) throws {
        let harness = try AgentHarness(in: directory, opener: app)
        try harness.agent.start()
        var mail = Sample.app
        mail.manifestText = Array(manifest.utf8)
        try harness.database.apps.save(mail)
        if !isMasterOn { try harness.database.choose(.master, "off") }
        let arrival = Arrival.notification(Sample.notification(1, payload: payload))
        for _ in 1...2 { #expect(harness.agent.link.streamReceived([arrival])) }
        #expect(app.calls == calls)
        if !calls.isEmpty { #expect(app.notifications[0].hasSuffix(#""payload":\#(payload)}"#)) }
        #expect(try harness.database.inbox.entry(1)?.reason == reason)
        if payload == Self.background {
            #expect(try harness.database.outboxLines().contains("1 suppressed nothing-to-show"))
        }
    }

    @Test func `an app that cannot be woken leaves a line in the inbox`() throws {
        let harness = try AgentHarness(in: directory, opener: app)
        try harness.agent.start()
        var mail = Sample.app
        mail.manifestText = Array(#"{"background":true}"#.utf8)
        try harness.database.apps.save(mail)
        app.failure = .failed("busy")
        #expect(harness.agent.link.streamReceived([.notification(Sample.notification(1, payload: Self.background))]))
        #expect(try harness.database.inbox.entry(1)?.reason == "the app was not woken: busy")
    }

    // MARK: Alerts

    @Test func `an alert has its category's buttons, and View when there are none`() throws {
        var mail = Sample.app
        mail.manifestText = Array(Self.manifest.utf8)
        let database = try AgentDatabase(path: directory.path(of: "agent.sqlite"))
        try database.apps.save(mail)
        let screen = AlertCollector()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen, sounds: nil)
        let payloads = [
            #"{"aps":{"alert":"One","category":"mail"}}"#, #"{"aps":{"alert":"Two","category":"other"}}"#,
            #"{"aps":{"alert":"Three"}}"#,
            #"{"aps":{"alert":{"body":"Four","action-loc-key":null},"category":"mail"}}"#,
        ]
        let arrivals = payloads.enumerated().map {
            Arrival.notification(Sample.notification(UInt64($0.offset + 1), payload: $0.element))
        }
        queue.entriesArrived(try Receiver(database).receive(arrivals, now: .unixEpoch).waiting)
        #expect(screen.alerts.map { $0.actions.map(\.id) } == [["open", "archive", "reply"], [], [], []])
        #expect(screen.alerts.map(\.viewLabel) == ["View", "View", "View", nil])
    }
}

/// A presenter that shows every alert.
final class AlertCollector: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)?
    let isAvailable = true
    private(set) var alerts: [Alert] = []

    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        alerts.append(alert)
        completion(.shown(playsSound: true))
    }
    func withdraw(entries: [EntryID]) {}
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
}
