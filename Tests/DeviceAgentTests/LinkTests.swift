// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
@testable import DeviceAgent
import LinuxDesktop
import LoopTestSupport
import PushCore
import PushNet
import TestSupport
import Testing

/// Checks where View leads: to the app, to the notification's link, or nowhere.
struct LinkTests {
    private let directory: TemporaryDirectory
    private let app = RecordingApp()

    init() throws { directory = try TemporaryDirectory() }

    private static let secure = "https://example.org/1"
    private static let own = "example-mail:1"

    /// A case: the schemes of an installed app, its manifest, the payload's `url`, and where View leads.
    struct Case: Sendable {
        var schemes: [String]?
        var manifest = ""
        var url: String?
        var call: String?
    }

    @Test(arguments: [
        Case(schemes: [], url: nil, call: "open - - token"),
        Case(schemes: [], url: secure, call: "open - - token"),
        Case(schemes: [], manifest: #"{"opens":"app"}"#, url: secure, call: "open - - token"),
        Case(schemes: [], manifest: #"{"opens":"url"}"#, url: secure, call: "link \(secure) token"),
        Case(schemes: [], manifest: #"{"opens":"url"}"#, url: nil, call: "open - - token"),
        Case(schemes: [], manifest: #"{"opens":"url"}"#, url: own, call: "open - - token"),
        Case(schemes: ["example-mail"], manifest: #"{"opens":"url"}"#, url: own, call: "link \(own) token"),
        Case(schemes: nil, url: secure, call: "link \(secure) token"),
        Case(schemes: nil, url: own, call: nil),
        Case(schemes: nil, url: "http://example.org", call: nil),
        Case(schemes: nil, url: nil, call: nil),
    ])
    func `View opens the app, or the link if the app is missing or wants it, or there is only OK`(
        test: Case
    ) throws {
        let screen = AlertCollector()
        var environment = AgentEnvironment(presenter: screen, opener: app)
        environment.linkSchemes = { _ in test.schemes }
        let agent = try agent(environment)
        try agent.database.save(manifest: test.manifest)
        let url = test.url.map { #","url":"\#($0)""# } ?? ""
        let payload = #"{"aps":{"alert":"Hello"}\#(url)}"#
        #expect(agent.agent.link.streamReceived([.notification(Sample.notification(1, payload: payload))]))
        let alert = try #require(screen.alerts.first)
        #expect((alert.viewLabel == nil) == (test.call == nil))
        #expect((alert.link?.text).map { "link \($0) token" } == test.call.flatMap { $0.hasPrefix("link") ? $0 : nil })
        guard let call = test.call else { return }
        agent.agent.alerts.alert(1, ended: .view(activationToken: "token"))
        #expect(app.calls == [call])
        #expect(try agent.database.inbox.entry(1)?.state == .viewed)
    }

    @Test func `a link that was not opened leaves its reason in the inbox, and inbox open reports it`() async throws {
        var environment = AgentEnvironment(presenter: AlertCollector(), opener: app)
        environment.linkSchemes = { _ in nil }
        let agent = try agent(environment)
        app.failure = .linkNotOpened("no browser")
        let payload = #"{"aps":{"alert":"Hello"},"url":"\#(Self.secure)"}"#
        #expect(agent.agent.link.streamReceived([.notification(Sample.notification(1, payload: payload))]))
        agent.agent.alerts.alert(1, ended: .view(activationToken: nil))
        #expect(
            try agent.database.inbox.entry(1)?.reason == "link-not-opened: the link was not opened: no browser")
        var refusal: AgentRefusal?
        let (loop, openings) = (agent.agent.loop, agent.agent.openings)
        loop.startTask {
            do throws(AgentRefusal) { try await openings.openEntry(1, activationToken: nil) } catch { refusal = error }
        }
        try await loop.run("the call has an answer") { refusal != nil }
        #expect(refusal?.code == .linkNotOpened)
        #expect(app.calls == ["link \(Self.secure) -", "link \(Self.secure) -"])
    }

    @Test func `a button of the app never opens the link`() throws {
        var environment = AgentEnvironment(presenter: AlertCollector(), opener: app)
        environment.linkSchemes = { _ in [] }
        let agent = try agent(environment)
        try agent.database.save(
            manifest: """
                {"opens":"url","categories":[{"id":"mail","actions":[{"id":"open","title":"Read","foreground":true}]}]}
                """)
        let payload = #"{"aps":{"alert":"Hello","category":"mail"},"url":"\#(Self.secure)"}"#
        #expect(agent.agent.link.streamReceived([.notification(Sample.notification(1, payload: payload))]))
        agent.agent.alerts.alert(1, ended: .action(id: "open", text: nil, activationToken: nil))
        #expect(app.calls == ["open open - -"])
    }

    @Test func `buttons that reach an app on the bus stay, though the app is not installed`() throws {
        let screen = AlertCollector()
        var environment = AgentEnvironment(presenter: screen, opener: app)
        environment.linkSchemes = { _ in nil }
        let agent = try agent(environment)
        try agent.database.save(
            manifest: #"{"categories":[{"id":"mail","actions":[{"id":"archive","title":"Archive"}]}]}"#)
        let payload = #"{"aps":{"alert":"Hello","category":"mail"}}"#
        #expect(agent.agent.link.streamReceived([.notification(Sample.notification(1, payload: payload))]))
        #expect(screen.alerts.first?.actions.map(\.id) == ["archive"])
    }

    @Test func `an address that is not accepted is ignored, and the entry says why`() throws {
        let agent = try agent(AgentEnvironment(presenter: AlertCollector(), opener: app))
        let payload = #"{"aps":{"alert":"Hello"},"url":"https://bank.example@evil.example/"}"#
        #expect(agent.agent.link.streamReceived([.notification(Sample.notification(1, payload: payload))]))
        let entry = try #require(try agent.database.inbox.entry(1))
        #expect(entry.url == nil && entry.state == .shown && entry.reason.isEmpty)
        #expect(entry.ignored == "url: it contains a user name, which hides the host")
    }

    @Test func `a hidden alert does not say where its link leads`() throws {
        var alert = Alert(entry: 1, appID: "a", appName: "A", title: "Title")
        alert.link = try NotificationLink(Self.secure)
        alert.picture = "/picture.png"
        alert.hideTexts()
        #expect(alert.link == nil && alert.picture == nil && alert.viewLabel == "View")
    }

    private struct Running {
        let agent: Agent
        let database: AgentDatabase
    }

    private func agent(_ environment: AgentEnvironment) throws -> Running {
        let database = try AgentDatabase(path: directory.path(of: "agent.sqlite"))
        let agent = Agent(
            loop: try EventLoop(), database: database, secretFile: SecretFile(path: directory.path(of: "secret")),
            authorityFile: EnrolledAuthority(path: directory.path(of: "authority.pem")), environment: environment)
        try agent.start()
        try database.save(manifest: "")
        return Running(agent: agent, database: database)
    }
}

extension AgentDatabase {
    fileprivate func save(manifest: String) throws {
        var app = Sample.app
        app.manifestText = Array(manifest.utf8)
        try apps.save(app)
    }
}
