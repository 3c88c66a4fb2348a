// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushCore
import PushNet
import TestSupport

@testable import AgentStore
@testable import DeviceAgent

/// A whole agent in the test's process, on a loop that the test runs, with a terminal that the test reads.
final class AgentHarness: AgentObserver {
    let loop: EventLoop
    let agent: Agent
    let database: AgentDatabase
    let secretFile: SecretFile
    /// The apps that have a .desktop file.
    let installed = InstalledApps()
    /// The text printed on the terminal.
    private(set) var screen = ""
    /// The events that clients received, in order.
    private(set) var events: [String] = []

    init(
        in directory: TemporaryDirectory, opener: (any AppOpener)? = nil, badges: (any BadgePresenter)? = nil,
        filterTimeLimit: Duration = .seconds(60), streamForm: StreamForm = .auto, access: ServerAccess = ServerAccess()
    ) throws {
        loop = try EventLoop()
        database = try AgentDatabase(path: directory.path(of: "agent.sqlite"))
        secretFile = SecretFile(path: directory.path(of: "device-secret"))
        let screen = ScreenText()
        let presenter = TerminalPresenter {
            screen.text += String(decoding: $0, as: UTF8.self)
            return true
        }
        let installed = installed
        var environment = AgentEnvironment(
            presenterName: "terminal", presenter: presenter, badges: badges, sounds: RecordingSounds(), opener: opener,
            filter: AppFilters(
                connection: nil, loop: loop, environment: ["PATH": "/usr/bin:/bin"], timeLimit: filterTimeLimit),
            manifest: { installed.manifests[$0].map { Array($0.utf8) } },
            describeApp: { installed.names[$0].map { ($0, "mail") } })
        environment.soundInstaller = SoundInstaller(environment: ["XDG_DATA_HOME": directory.path(of: "data")])
        agent = Agent(
            loop: loop, database: database, secretFile: secretFile,
            authorityFile: EnrolledAuthority(path: directory.path(of: "authority.pem")), environment: environment,
            streamForm: streamForm, access: access)
        agent.observer = self
        screen.harness = self
    }

    /// The apps that the desktop knows, which change as apps are installed and removed.
    final class InstalledApps {
        var names = ["org.example.Mail": "Example Mail"]
        var manifests: [String: String] = [:]
    }

    private final class ScreenText {
        weak var harness: AgentHarness?
        var text = "" { didSet { harness?.screen = text } }
    }

    func isConnected() -> Bool { agent.status(nowUnixSeconds: 0).isConnected }

    /// Enrols and waits for the stream.
    func enrol(with server: ScriptedDeviceServer) async throws -> Result<String, AgentRefusal> {
        var result: Result<String, AgentRefusal>?
        agent.enrolment.enrol(serverURL: server.url, code: "C0DE", caFile: server.caFile, name: "test") { result = $0 }
        try await loop.run("enrolment is answered") { result != nil }
        guard let result else { throw NeverHappened(what: "enrolment is answered") }
        if case .success = result { try await loop.run("the stream is open") { self.isConnected() } }
        return result
    }

    /// Registers an app and waits for the answer.
    func register(
        _ appID: String, topic: String? = nil, name: String? = nil, environment: Environment = .production
    ) async throws -> Result<String, AgentRefusal> {
        var result: Result<String, AgentRefusal>?
        agent.registrations.register(appID: appID, topic: topic, name: name, environment: environment) { result = $0 }
        try await loop.run("the registration is answered") { result != nil }
        guard let result else { throw NeverHappened(what: "the registration is answered") }
        return result
    }

    /// Subscribes to a channel and waits for the answer.
    func subscribe(
        _ channel: String, of appID: String = "org.example.Mail"
    ) async throws -> Result<SubscriptionService.State, AgentRefusal> {
        var result: Result<SubscriptionService.State, AgentRefusal>?
        agent.subscriptions.subscribe(channel, of: appID) { result = $0 }
        try await loop.run("the subscription is answered") { result != nil }
        guard let result else { throw NeverHappened(what: "the subscription is answered") }
        return result
    }

    /// Stops the agent as a signal does.
    func stop() async throws {
        var hasStopped = false
        agent.stop(within: .milliseconds(100)) { hasStopped = true }
        try await loop.run("the agent has stopped") { hasStopped }
    }

    /// Waits for the end of an operation without a result, and returns its refusal, or nil.
    func wait(_ body: (@escaping (Result<Void, AgentRefusal>) -> Void) -> Void) async throws -> AgentRefusal? {
        var result: Result<Void, AgentRefusal>?
        body { result = $0 }
        try await loop.run("it is answered") { result != nil }
        guard case .failure(let refusal) = result else { return nil }
        return refusal
    }

    func tokenChanged(appID: String, deviceToken: String) { events.append("token \(appID) \(deviceToken.prefix(4))") }
    func badgeChanged(appID: String, count: UInt32) { events.append("badge \(appID) \(count)") }
    func settingsChanged(appID: String) { events.append("settings \(appID)") }
    func subscriptionEnded(appID: String, channel: String, reason: String) {
        events.append("ended \(appID) \(channel) \(reason)")
    }
    func notificationArrived(entry: Int64) { events.append("arrived \(entry)") }
    func alertsChanged() { events.append("alerts") }
    func inboxChanged() { events.append("inbox") }
    func statusChanged() { events.append("status") }
}
