// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import Glibc
internal import PushAPI
internal import PushCore
package import PushDBus
internal import PushNet

/// Serves the interface `org.posthorn.Agent1` on the agent's bus, as deploy/dbus/org.posthorn.Agent1.xml describes it.
///
/// Everything from the bus is checked before use: the policy checks the caller, and this type checks the arguments.
package final class AgentService {
    /// The bus name, which is also the name of the interface.
    package static let name = "org.posthorn.Agent1"
    /// The path of the object.
    package static let path = "/org/posthorn/Agent1"
    /// The maximum length of a text from the bus, in bytes.
    static let textByteCountMax = AppManifest.byteCountMax

    let agent: Agent
    let connection: BusConnection
    let deviceName: String
    private let callers: any CallerPolicy
    private var bounds = CallBounds()
    private var toldStatus: AgentStatus?

    /// Serves the object without the bus name, which `claimName` requests.
    package init(
        _ agent: Agent, on connection: BusConnection, deviceName: String, callers: any CallerPolicy
    ) throws(BusError) {
        self.agent = agent
        self.connection = connection
        self.deviceName = deviceName
        self.callers = callers
        try connection.serve(
            path: Self.path, interface: Self.name, introspection: AgentIntrospection.xml,
            replyingLater: { [weak self] call, reply in self?.answer(call, reply) })
    }

    /// Requests the bus name once everything is ready; returns false while another program owns it, and takes it later.
    package func claimName() throws(BusError) -> Bool {
        let own = connection.uniqueName
        try connection.watchOwner(of: Self.name) { owner in
            agentLog.info("bus_name", ["name": Self.name, "owner": owner == own ? "agent" : owner ?? "nobody"])
        }
        return try connection.requestName(Self.name, waits: true)
    }

    /// Refuses calls that exceed a bound before any other work is done for them.
    private func answer(_ call: IncomingCall, _ reply: BusReply) {
        guard call.argumentByteCount <= CallBounds.argumentByteCountMax else {
            return reply.answer(
                .failure(
                    BusError(AgentRefusal(.limitsExceeded, "The arguments of \(call.member) are too long."))))
        }
        guard bounds.begin(call.sender, atNanoseconds: agent.loop.monotonicNanoseconds) else {
            return reply.answer(
                .failure(
                    BusError(AgentRefusal(.limitsExceeded, "Too many calls at once; the agent answers few at a time.")))
            )
        }
        reply.onAnswer = { [weak self] in self?.bounds.end(call.sender) }
        callers.judge(call) { [weak self] verdict in
            switch verdict {
            case .allowed(let asker): self?.answer(call, from: asker, reply)
            case .refused(let refusal): reply.answer(.failure(BusError(refusal)))
            }
        }
    }

    private func answer(_ call: IncomingCall, from asker: Agent.Registrant, _ reply: BusReply) {
        do throws(AgentRefusal) {
            guard let values = try answerAtOnce(call) else { return try answerLater(call, from: asker, reply) }
            reply.answer(.success(values))
        } catch {
            reply.answer(.failure(BusError(error)))
        }
    }

    // MARK: Methods without a network request; nil for the others

    private func answerAtOnce(_ call: IncomingCall) throws(AgentRefusal) -> [BusValue]? {
        let arguments = Arguments(call)
        switch call.member {
        case "GetStatus":
            let now = WallClock.unixMilliseconds() / 1000
            return [.dictionary(agent.status(nowUnixSeconds: now).dictionary)]
        case "ListApps":
            return [
                .array(
                    "a{sv}", try agent.apps().map { app throws(AgentRefusal) in .dictionary(try dictionary(of: app)) })
            ]
        case "GetBadges":
            let badges = try agent.apps().map { ($0.appID, agent.shownBadge(of: $0)) }.filter { $0.1 > 0 }
            return [.array("{su}", badges.map { .structure([.text($0.0), .uint32($0.1)]) })]
        case "ListSettings":
            return [
                .array("a{sv}", try agent.settings(appID: try arguments.text(0)).map { .dictionary($0.dictionary) })
            ]
        case "GetSetting":
            let value = try agent.setting(
                try arguments.text(2), appID: try arguments.text(0), event: try arguments.text(1))
            return [.text(value.text), .bool(value.isLocked)]
        case "SetSetting":
            try agent.set(
                try arguments.text(2), appID: try arguments.text(0), event: try arguments.text(1),
                to: try arguments.text(3))
            return []
        case "Unsubscribe":
            try agent.unsubscribe(try arguments.text(1), of: try arguments.text(0))
            return []
        case "Forget":
            try agent.forget()
            return []
        default:
            if let values = try answerAboutInbox(call.member, arguments) { return values }
            if let values = try answerAboutAlerts(call, arguments) { return values }
            return try answerAboutSounds(call.member, arguments)
        }
    }

    // MARK: Methods that wait for the server

    private func answerLater(_ call: IncomingCall, from asker: Agent.Registrant, _ reply: BusReply) throws(AgentRefusal)
    {
        let arguments = Arguments(call)
        switch call.member {
        case "Enrol":
            agent.enrol(
                serverURL: try arguments.text(0), code: try arguments.text(1), caFile: try arguments.text(2),
                name: deviceName
            ) { reply.answer($0.map { [.text($0)] }.mapError(BusError.init)) }
        case "Unenrol":
            agent.unenrol { reply.answer($0.map { [] }.mapError(BusError.init)) }
        case "Register":
            let options = try arguments.options(1, allowed: ["topic", "name", "environment", "manifest"])
            agent.register(
                appID: try arguments.text(0), topic: options["topic"], name: options["name"],
                environment: try Self.environment(options["environment"]),
                manifest: options["manifest"].map { Array($0.utf8) }, asker: asker
            ) { reply.answer($0.map { [.text($0)] }.mapError(BusError.init)) }
        case "Subscribe":
            agent.subscribe(try arguments.text(1), of: try arguments.text(0)) {
                reply.answer($0.map { [.text($0.rawValue)] }.mapError(BusError.init))
            }
        case "Unregister":
            agent.unregister(appID: try arguments.text(0)) { reply.answer($0.map { [] }.mapError(BusError.init)) }
        default:
            if try openApp(call, reply) { return }
            reply.answer(
                .failure(
                    BusError(
                        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "there is no method \(call.member)"))
            )
        }
    }

    // MARK: Values

    /// Parses an environment; the default is production, as before environments existed.
    private static func environment(_ text: String?) throws(AgentRefusal) -> Environment {
        guard let text else { return .production }
        if let environment = Environment.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) {
            return environment
        }
        throw AgentRefusal(.badEnvironment, "There is no environment '\(text)', only production and development.")
    }

    private func dictionary(of app: RegisteredApp) throws(AgentRefusal) -> [(String, BusValue)] {
        let settings = try agent.appSettings(of: app)
        let subscriptions = try agent.subscriptions(of: app.appID)
        let pending = subscriptions.filter { $0.state == .pending }
        return [
            ("app_id", .variant(.text(app.appID))), ("topic", .variant(.text(app.topic))),
            ("name", .variant(.text(app.name))), ("icon", .variant(.text(app.icon ?? ""))),
            ("device_token", .variant(.text(app.deviceToken))),
            ("badge", .variant(.uint32(agent.shownBadge(of: app)))),
            ("allows_badge", .variant(.bool(settings.allowsBadge))),
            ("allows_sound", .variant(.bool(settings.allowsSound))),
            ("allows_alert", .variant(.bool(settings.allowsAlert))),
            ("alert_style", .variant(.text(settings.alertStyle.rawValue))),
            ("environment", .variant(.text(app.environment.rawValue))),
            ("channels", .variant(.array("s", subscriptions.map { .text($0.channel) }))),
            ("pending_channels", .variant(.array("s", pending.map { .text($0.channel) }))),
            ("advice", .variant(.array("s", app.advice.map { .text($0) }))),
            (
                "event_types",
                .variant(.array("a{sv}", try agent.eventTypes(of: app).map { .dictionary($0.dictionary) }))
            ),
        ]
    }

    func appNames() throws(AgentRefusal) -> [String: String] {
        Dictionary(try agent.apps().map { ($0.appID, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
}

extension AgentService: AgentObserver {
    /// Emits TokenChanged, without the token, because every program on the bus receives the signal.
    package func tokenChanged(appID: String, deviceToken: String) { emit("TokenChanged", [.text(appID)]) }

    /// Emits the signal BadgeChanged.
    package func badgeChanged(appID: String, count: UInt32) { emit("BadgeChanged", [.text(appID), .uint32(count)]) }

    /// Emits the signal SettingsChanged.
    package func settingsChanged(appID: String) { emit("SettingsChanged", [.text(appID)]) }

    /// Emits the signal SubscriptionEnded.
    package func subscriptionEnded(appID: String, channel: String, reason: String) {
        emit("SubscriptionEnded", [.text(appID), .text(channel), .text(reason)])
    }

    /// Emits the signal NotificationArrived.
    package func notificationArrived(entry: Int64) { emit("NotificationArrived", [.int64(entry)]) }

    /// Emits the signal AlertsChanged.
    package func alertsChanged() { emit("AlertsChanged", []) }

    /// Emits the signal InboxChanged.
    package func inboxChanged() { emit("InboxChanged", []) }

    /// Reports the status to the service manager and emits StatusChanged, unless the status is unchanged.
    package func statusChanged() {
        // The comparison leaves out times, because a new time alone is no change.
        var status = agent.status(nowUnixSeconds: 0)
        status.nextTryUnixSeconds = 0
        guard status != toldStatus else { return }
        toldStatus = status
        ServiceManager.notify("STATUS=\(status.line)")
        emit("StatusChanged", [])
    }

    private func emit(_ member: String, _ arguments: [BusValue]) {
        do {
            try connection.emit(Self.path, Self.name, member, arguments)
        } catch {
            agentLog.warning("signal_not_sent", ["signal": member, "error": error.message])
        }
    }
}

extension BusError {
    /// Creates the error that a client gets.
    init(_ refusal: AgentRefusal) {
        self.init(name: "org.posthorn.Error.\(refusal.code.rawValue)", message: refusal.message)
    }
}

extension AgentStatus {
    /// The dictionary that GetStatus returns.
    fileprivate var dictionary: [(String, BusValue)] {
        [
            ("version", .variant(.text(version))), ("enrolled", .variant(.bool(isEnrolled))),
            ("removed", .variant(.bool(isRemoved))), ("server_url", .variant(.text(serverURL))),
            ("device_id", .variant(.text(deviceID))),
            ("connected", .variant(.bool(isConnected))),
            ("connected_since", .variant(.int64(connectedSinceUnixSeconds))),
            ("last_connected", .variant(.int64(lastConnectedUnixSeconds))),
            ("next_try", .variant(.int64(nextTryUnixSeconds))), ("last_error", .variant(.text(lastError))),
            ("notice", .variant(.text(notice))),
            ("presenter", .variant(.text(presenter))),
            ("pid", .variant(.uint32(UInt32(clamping: getpid())))),
        ]
    }
}

extension EventTypeTable.EventType {
    /// The dictionary that ListApps returns.
    fileprivate var dictionary: [(String, BusValue)] {
        [("id", .variant(.text(id))), ("name", .variant(.text(name)))]
    }
}

extension Agent.SettingLine {
    /// The dictionary that ListSettings returns.
    fileprivate var dictionary: [(String, BusValue)] {
        [
            ("event", .variant(.text(event))), ("name", .variant(.text(setting.rawValue))),
            ("value", .variant(.text(value.text))), ("locked", .variant(.bool(value.isLocked))),
            ("origin", .variant(.text(value.origin.rawValue))),
        ]
    }
}
