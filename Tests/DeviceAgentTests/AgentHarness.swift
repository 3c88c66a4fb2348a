// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

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
    /// The number of operations that have not ended.
    private var runningCount = 0
    /// The events that clients received, in order.
    private(set) var events: [String] = []

    init(
        in directory: TemporaryDirectory, opener: (any AppOpener)? = nil, badges: (any BadgePresenter)? = nil,
        filterTimeLimit: Duration = .seconds(60), streamForm: StreamForm = .auto, access: ServerAccess = ServerAccess(),
        buttonAuthority: String? = nil
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
        environment.buttonRequests = ButtonRequestSender(loop: loop, access: access, caFile: buttonAuthority)
        agent = Agent(
            loop: loop, database: database, secretFile: secretFile,
            authorityFile: EnrolledAuthority(path: directory.path(of: "authority.pem")), environment: environment,
            streamForm: streamForm, access: access)
        agent.observer = self
        screen.harness = self
    }

    /// The apps that the desktop knows, which change as apps are installed and removed.
    final class InstalledApps {
        var names: [AppID: String] = ["org.example.Mail": "Example Mail"]
        var manifests: [AppID: String] = [:]
    }

    private final class ScreenText {
        weak var harness: AgentHarness?
        var text = "" { didSet { harness?.screen = text } }
    }

    func isConnected() -> Bool { agent.status(now: .unixEpoch).isConnected }

    /// Runs an operation of the agent on the loop, and waits for its end.
    func run<Success>(
        _ body: @escaping (Agent) async throws(AgentRefusal) -> Success
    ) async throws -> Result<Success, AgentRefusal> {
        var result: Result<Success, AgentRefusal>?
        start(body) { result = $0 }
        try await loop.run("the operation has ended") { result != nil }
        return try #require(result)
    }

    /// Starts an operation of the agent on the loop; it retains the agent until it ends.
    func start<Success>(
        _ body: @escaping (Agent) async throws(AgentRefusal) -> Success,
        completion: @escaping (Result<Success, AgentRefusal>) -> Void = { _ in }
    ) {
        runningCount += 1
        loop.startTask { [self] in
            let result: Result<Success, AgentRefusal>
            do throws(AgentRefusal) { result = .success(try await body(agent)) } catch { result = .failure(error) }
            runningCount -= 1
            completion(result)
        }
    }

    /// Returns a started agent that is enrolled, has the registered app `org.example.Mail`, and is connected.
    static func connected(
        in directory: TemporaryDirectory, to server: ScriptedDeviceServer, opener: (any AppOpener)? = nil,
        badges: (any BadgePresenter)? = nil
    ) async throws -> AgentHarness {
        let harness = try AgentHarness(in: directory, opener: opener, badges: badges)
        try harness.agent.start()
        #expect(try await harness.enrol(with: server) == .success("00000000000000ab"))
        _ = try await harness.register("org.example.Mail").get()
        return harness
    }

    /// Enrols and waits for the stream.
    func enrol(with server: ScriptedDeviceServer) async throws -> Result<String, AgentRefusal> {
        let result = try await enrol(server.url, code: "C0DE", caFile: server.caFile)
        if case .success = result { try await loop.run("the stream is open") { self.isConnected() } }
        return result
    }

    /// Enrols with the server at a URL, and waits for the answer.
    func enrol(
        _ serverURL: String, code: String = "", caFile: String = ""
    ) async throws -> Result<String, AgentRefusal> {
        try await run { agent throws(AgentRefusal) in
            try await agent.enrolment.enrol(serverURL: serverURL, code: code, caFile: caFile, name: "test")
        }
    }

    /// Registers an app and waits for the answer.
    func register(
        _ appID: AppID, topic: TopicName? = nil, name: String? = nil, environment: Environment = .production
    ) async throws -> Result<String, AgentRefusal> {
        try await run { agent throws(AgentRefusal) in
            try await agent.registrations.register(appID: appID, topic: topic, name: name, environment: environment)
        }
    }

    /// Unregisters an app and waits for the answer; returns the refusal, or nil.
    func unregister(_ appID: AppID) async throws -> AgentRefusal? {
        try await refusal { agent throws(AgentRefusal) in try await agent.registrations.unregister(appID: appID) }
    }

    /// Unenrols and waits for the answer; returns the refusal, or nil.
    func unenrol() async throws -> AgentRefusal? {
        try await refusal { agent throws(AgentRefusal) in try await agent.enrolment.unenrol() }
    }

    /// Subscribes to a channel and waits for the answer.
    func subscribe(
        _ channel: String, of appID: AppID = "org.example.Mail"
    ) async throws -> Result<SubscriptionService.State, AgentRefusal> {
        try await run { agent throws(AgentRefusal) in try await agent.subscriptions.subscribe(channel, of: appID) }
    }

    /// Stops the agent as a signal does.
    func stop() async throws {
        var hasStopped = false
        agent.stop(within: .milliseconds(100)) { hasStopped = true }
        try await loop.run("the agent has stopped, and its operations have ended") { hasStopped && runningCount == 0 }
    }

    private func refusal(
        _ body: @escaping (Agent) async throws(AgentRefusal) -> Void
    ) async throws -> AgentRefusal? {
        guard case .failure(let refusal) = try await run(body) else { return nil }
        return refusal
    }

    func tokenChanged(appID: AppID, deviceToken: String) { events.append("token \(appID) \(deviceToken.prefix(4))") }
    func badgeChanged(appID: AppID, count: UInt32) { events.append("badge \(appID) \(count)") }
    func settingsChanged(appID: AppID?) { events.append("settings \(appID?.text ?? "")") }
    func subscriptionEnded(appID: AppID, channel: String, reason: String) {
        events.append("ended \(appID) \(channel) \(reason)")
    }
    func notificationArrived(entry: EntryID) { events.append("arrived \(entry)") }
    func alertsChanged() { events.append("alerts") }
    func inboxChanged() { events.append("inbox") }
    func statusChanged() { events.append("status") }
}
