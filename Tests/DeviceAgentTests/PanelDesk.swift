// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
@testable import DeviceAgent
import LinuxDesktop
import PushAPI
import PushCore
import PushDBus
import PushNet
import TestSupport
import Testing

/// A whole agent with its bus service, on a desktop with a panel: the test passes notifications to it directly.
final class PanelDesk {
    let session: DesktopSession
    let database: AgentDatabase
    let agent: Agent
    let panel: PanelAlerts
    let app = RecordingApp()
    let sounds = RecordingSounds()
    /// The state of the desktop.
    var state = DesktopState()
    private let service: AgentService
    private let desktop: DesktopPresenter
    private var sentCount: UInt64 = 0

    /// Starts a desktop with a notification server, a panel and an agent.
    static func withServer(
        _ file: DatabaseFile
    ) async throws -> (PanelDesk, ScriptedPanel, ScriptedNotificationServer) {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        let panel = try ScriptedPanel(session)
        return (try PanelDesk(file, session), panel, server)
    }

    /// Starts an agent with short delays.
    ///
    /// - Parameters:
    ///   - file: The agent's database file.
    ///   - session: The session, which has a bus.
    ///   - fetchTimeout: The time in which a panel must ask for its alert.
    ///   - failureBackoff: The time for which a failed panel is not used.
    /// - Throws: The error of the bus or the database.
    init(
        _ file: DatabaseFile, _ session: DesktopSession, fetchTimeout: Duration = .seconds(20),
        failureBackoff: Duration = .seconds(600)
    ) throws {
        self.session = session
        database = try file.open()
        try database.apps.save(Sample.app)
        var times = PanelAlerts.Times()
        (times.fetchTimeout, times.restartDelay, times.failureBackoff) = (
            fetchTimeout, .milliseconds(20), failureBackoff
        )
        panel = try PanelAlerts(connection: session.connection, loop: session.loop, times: times)
        desktop = try DesktopPresenter(connection: session.connection, loop: session.loop, environment: [:])
        let desk = DeskBox()
        var environment = AgentEnvironment(
            presenterName: "desktop", presenter: StyledPresenter(panel: panel, desktop: desktop), sounds: sounds,
            opener: app, currentDesktopState: { desk.owner?.state ?? DesktopState() })
        environment.panel = panel
        agent = Agent(
            loop: session.loop, database: database, secretFile: SecretFile(path: file.directory.path(of: "secret")),
            authorityFile: EnrolledAuthority(path: file.directory.path(of: "authority.pem")), environment: environment
        )
        service = try AgentService(agent, on: session.connection, deviceName: "test", callers: AnyCaller())
        agent.observer = service
        sentCount = try database.inbox.newest(countMax: 1).first.map { UInt64($0.entry.rawValue) } ?? 0
        desk.owner = self
        try database.choose(.alert, "alert", for: "org.example.Mail")
        try agent.start()
        _ = try service.claimName()
    }

    private final class DeskBox {
        weak var owner: PanelDesk?
    }

    /// Receives an alert with a text, and more members of `aps`.
    func receive(_ text: String, _ members: String = "", collapseID: String? = nil) {
        sentCount += 1
        let payload = #"{"aps":{"alert":"\#(text)"\#(members)},"n":\#(sentCount)}"#
        #expect(
            agent.link.streamReceived([
                .notification(Sample.notification(sentCount, collapseID: collapseID, payload: payload))
            ]))
    }

    /// Returns the states of all entries, oldest first.
    func states() throws -> [AgentStore.InboxEntry.State] {
        try database.inbox.newest(countMax: 1000).reversed().map(\.state)
    }

    /// Waits until the entries have these states, oldest first.
    func wait(for states: AgentStore.InboxEntry.State...) async throws {
        try await session.run(until: "the entries are \(states)", evidence: { "\((try? self.states()) ?? [])" }) {
            try self.states() == states
        }
    }
}

/// Permits every call, because `CallerRulesTests` check the permissions.
final class AnyCaller: CallerPolicy {
    func decide(on call: IncomingCall, completion: @escaping (CallVerdict) -> Void) { completion(.allowed(.tool)) }
}

/// Records the sounds that it should play.
final class RecordingSounds: SoundPresenter {
    private(set) var played: [Sound] = []
    func play(_ sound: Sound, appID: AppID?, appName: String, completion: @escaping (SuppressionReason?) -> Void) {
        played.append(sound)
        completion(nil)
    }
}

/// A panel that runs in the test's process and follows the test's script.
final class ScriptedPanel {
    /// The result of each ListAlerts call.
    private(set) var lists: [[BusValue]] = []
    private(set) var changeCount = 0
    private(set) var callCount = 0
    /// Whether the panel asks for alerts when it is notified.
    var asks: Bool
    private let session: DesktopSession
    private let connection: BusConnection
    private let driver: BusDriver

    init(_ session: DesktopSession, asks: Bool = true, name: String = PanelAlerts.busName) throws {
        self.session = session
        self.asks = asks
        connection = try BusConnection(.address(session.bus.address))
        driver = try BusDriver(loop: session.loop, connection: connection)
        try connection.subscribe(
            sender: nil, path: AgentInterface.path, interface: AgentInterface.name, member: "AlertsChanged"
        ) { [weak self] _ in
            self?.changeCount += 1
        }
        try connection.serve(
            path: "/org/posthorn/Panel", interface: "org.freedesktop.Application", introspection: "<node/>"
        ) { [weak self] call in
            guard let self, call.member == "ActivateAction", call.arguments.first == .string("show-alerts") else {
                return .failure(BusError(name: BusError.unknownMethodName, message: call.member))
            }
            callCount += 1
            if self.asks { list() }
            return .success([])
        }
        _ = try connection.requestName(name)
    }

    /// Asks for the waiting alerts.
    func list() {
        send("ListAlerts") { [weak self] answer in
            if let alerts = try? answer.get().first?.arrayValue { self?.lists.append(alerts) }
        }
    }

    /// The entries in the newest list.
    var entries: [Int64] { lists.last?.compactMap { $0[key: "entry"]?.integerValue } ?? [] }

    /// Waits until the newest list has these entries, and repeats the request.
    func wait(for entries: Int64...) async throws {
        try await session.run(until: "\(entries) wait", evidence: { "\(self.entries)" }) {
            list()
            return self.entries == entries
        }
    }

    /// Answers an alert and returns the last part of the error's name, or an empty text for success.
    func answer(
        _ entry: Int64, _ answer: String, action: String = "", text: String = "", token: String = ""
    ) async throws -> String {
        try await call(
            "AnswerAlert", .int64(entry), .string(answer), .string(action), .string(text), .string(token))
    }

    /// Calls a method without a result and returns the last part of the error's name, or an empty text for success.
    func call(_ member: String, _ arguments: BusValue...) async throws -> String {
        var result: Result<[BusValue], BusError>?
        send(member, arguments) { result = $0 }
        return Self.refusal(try await session.value("\(member) is answered") { result })
    }

    /// Answers an alert without waiting.
    func answer(_ entry: Int64, _ answer: String, _ completion: @escaping (String) -> Void) {
        let none = BusValue.string("")
        send("AnswerAlert", [.int64(entry), .string(answer), none, none, none]) { completion(Self.refusal($0)) }
    }

    private static func refusal(_ result: Result<[BusValue], BusError>) -> String {
        guard case .failure(let error) = result else { return "" }
        return error.name.split(separator: ".").last.map(String.init) ?? ""
    }

    private func send(
        _ member: String, _ arguments: [BusValue] = [],
        _ completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        connection.send(
            AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments, completion: completion)
    }
}
