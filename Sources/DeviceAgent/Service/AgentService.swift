// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import Glibc
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import PushNet

/// Serves the interface `org.posthorn.Agent1` on the agent's bus, as deploy/dbus/org.posthorn.Agent1.xml describes it.
///
/// Everything from the bus is checked before use: the policy checks the caller, and this type checks the arguments.
final class AgentService {
    /// The maximum length of a text from the bus, in bytes.
    static let textByteCountMax = AppManifest.byteCountMax

    let agent: Agent
    let connection: BusConnection
    let deviceName: String
    /// Called after a change of the inbox.
    var onInboxChange: () -> Void = {}
    /// Called after a change of the user's own settings.
    var onSettingsChange: () -> Void = {}
    private let callers: any CallerPolicy
    private var bounds = CallBounds()
    private var emittedStatus: StatusRecord?

    /// Serves the object without the bus name, which `claimName` requests.
    init(
        _ agent: Agent, on connection: BusConnection, deviceName: String, callers: any CallerPolicy
    ) throws(BusError) {
        self.agent = agent
        self.connection = connection
        self.deviceName = deviceName
        self.callers = callers
        try connection.serve(
            path: AgentInterface.path, interface: AgentInterface.name, introspection: AgentIntrospection.xml,
            replyingLater: { [weak self] call, reply in self?.answer(call, reply) })
    }

    /// Requests the bus name once everything is ready; returns false while another program owns it, and takes it later.
    func claimName() throws(BusError) -> Bool {
        let own = connection.uniqueName
        try connection.watchOwner(of: AgentInterface.name) { owner in
            agentLog.info(
                "bus_name", ["name": AgentInterface.name, "owner": owner == own ? "agent" : owner ?? "nobody"])
        }
        return try connection.requestName(AgentInterface.name, waits: true)
    }

    /// Refuses calls that exceed a bound before any other work is done for them.
    private func answer(_ call: IncomingCall, _ reply: BusReply) {
        guard call.argumentByteCount <= CallBounds.argumentByteCountMax else {
            return reply.answer(
                .failure(
                    BusError(AgentRefusal(.limitsExceeded, "The arguments of \(call.member) are too long."))))
        }
        guard bounds.begin(call.sender, at: agent.loop.now) else {
            return reply.answer(
                .failure(
                    BusError(
                        AgentRefusal(
                            .limitsExceeded, "Too many calls. Wait for the unanswered ones, then try again."))))
        }
        reply.onAnswer = { [weak self] in self?.bounds.end(call.sender) }
        callers.decide(on: call) { [weak self] verdict in
            switch verdict {
            case .allowed(let asker): self?.answer(call, from: asker, reply)
            case .refused(let refusal): reply.answer(.failure(BusError(refusal)))
            }
        }
    }

    private func answer(_ call: IncomingCall, from asker: RegistrationService.Registrant, _ reply: BusReply) {
        guard let method = AgentMethod(rawValue: call.member) else {
            return reply.answer(
                .failure(
                    BusError(
                        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "there is no method \(call.member)"))
            )
        }
        agent.loop.startTask { [self] in
            do throws(AgentRefusal) {
                reply.answer(.success(try await values(method, call, from: asker)))
            } catch {
                reply.answer(.failure(BusError(error)))
            }
        }
    }

    // MARK: Methods

    private func values(
        _ method: AgentMethod, _ call: IncomingCall, from asker: RegistrationService.Registrant
    ) async throws(AgentRefusal) -> [BusValue] {
        let arguments = Arguments(call)
        switch method {
        case .enrol:
            return [
                .text(
                    try await agent.enrolment.enrol(
                        serverURL: try arguments.text(0), code: try arguments.text(1), caFile: try arguments.text(2),
                        name: deviceName))
            ]
        case .listAuthorities:
            return [AuthorityRecord.array(try await agent.authorities.presented())]
        case .trust:
            try await agent.authorities.trust(code: try arguments.text(0), caFile: try arguments.text(1))
            return []
        case .unenrol:
            try await agent.enrolment.unenrol()
            return []
        case .register:
            let options = try arguments.options(1, allowed: ["topic", "name", "environment", "manifest"])
            return [
                .text(
                    try await agent.registrations.register(
                        appID: try arguments.appID(0), topic: options["topic"].map { TopicName($0) },
                        name: options["name"],
                        environment: try Self.environment(options["environment"]),
                        manifest: options["manifest"].map { Array($0.utf8) }, asker: asker))
            ]
        case .subscribe:
            let state = try await agent.subscriptions.subscribe(try arguments.text(1), of: try arguments.appID(0))
            return [.text(state.rawValue)]
        case .unregister:
            try await agent.registrations.unregister(appID: try arguments.appID(0))
            return []
        case .openEntry:
            let token = AlertOutcome.activationToken(try arguments.text(1))
            try await agent.openings.openEntry(try arguments.entryID(0), activationToken: token)
            return []
        case .openApp:
            let token = AlertOutcome.activationToken(try arguments.text(1))
            try await agent.openings.openApp(try arguments.appID(0), activationToken: token)
            return []
        default: return try answerAtOnce(method, call.sender, arguments)
        }
    }

    private func answerAtOnce(
        _ method: AgentMethod, _ caller: String, _ arguments: Arguments
    ) throws(AgentRefusal) -> [BusValue] {
        switch method {
        case .getStatus:
            return [agent.status(now: .now).dictionary]
        case .listApps:
            return [
                AppRecord.array(try agent.registrations.apps().map { app throws(AgentRefusal) in try record(of: app) })
            ]
        case .getBadges:
            let badges = try agent.registrations.apps().map { ($0.appID, agent.badges.shownBadge(of: $0)) }.filter {
                $0.1 > 0
            }
            return [.array("{su}", badges.map { .structure([.text($0.0.text), .uint32($0.1)]) })]
        case .listSettings:
            return [SettingRecord.array(try agent.settings.all(appID: try arguments.appIDOrAll(0)).map(\.record))]
        case .getSetting:
            let value = try agent.settings.setting(
                try arguments.text(2), appID: try arguments.appIDOrAll(0), event: try arguments.text(1))
            return [.text(value.text), .bool(value.isLocked)]
        case .setSetting:
            try agent.settings.set(
                try arguments.text(2), appID: try arguments.appIDOrAll(0), event: try arguments.text(1),
                to: try arguments.text(3))
            return []
        case .unsubscribe:
            try agent.subscriptions.unsubscribe(try arguments.text(1), of: try arguments.appID(0))
            return []
        case .forget:
            try agent.enrolment.forget()
            return []
        default:
            if let values = try answerAboutInbox(method, arguments) { return values }
            if let values = try answerAboutAlerts(method, caller, arguments) { return values }
            if let values = try answerAboutSounds(method, arguments) { return values }
            preconditionFailure("no case answers \(method)")
        }
    }

    // MARK: Values

    /// Parses an environment; the default is production, as before environments existed.
    private static func environment(_ text: String?) throws(AgentRefusal) -> Environment {
        guard let text else { return .production }
        if let environment = Environment.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) {
            return environment
        }
        throw AgentRefusal(.badEnvironment, "Unknown environment '\(text)': use production or development.")
    }

    private func record(of app: RegisteredApp) throws(AgentRefusal) -> AppRecord {
        let settings = try agent.settings.appSettings(of: app)
        let subscriptions = try agent.subscriptions.all(of: app.appID)
        var record = AppRecord()
        record.appID = app.appID.text
        record.topic = app.topic.text
        record.name = app.name
        record.environment = app.environment.rawValue
        record.icon = app.icon ?? ""
        record.deviceToken = app.deviceToken
        record.badge = agent.badges.shownBadge(of: app)
        record.eventTypes = try agent.settings.eventTypes(of: app).map(\.record)
        record.allowsBadge = settings.allowsBadge
        record.allowsSound = settings.allowsSound
        record.allowsAlert = settings.allowsAlert
        record.alertStyle = settings.alertStyle.rawValue
        record.quietExceptions = settings.quietExceptions.map(\.rawValue)
        record.lockedSettings = try agent.settings.lockedSettings(of: app).map(\.rawValue)
        record.channels = subscriptions.map(\.channel)
        record.pendingChannels = subscriptions.filter { $0.state == .pending }.map(\.channel)
        record.advice = app.advice
        record.isVerified = app.isVerified
        record.offers = try agent.settings.offers(to: app).map(\.rawValue)
        record.canHavePictures = !app.manifest.pictureHosts.isEmpty || app.manifest.filter != nil
        if case .until(let end) = settings.mute, end > .now { record.mutedUntil = end }
        return record
    }
}

extension AgentService: AgentObserver {
    /// Emits TokenChanged, without the token, because every program on the bus receives the signal.
    package func tokenChanged(appID: AppID, deviceToken: String) { emit(.tokenChanged, [.text(appID.text)]) }

    package func badgeChanged(appID: AppID, count: UInt32) { emit(.badgeChanged, [.text(appID.text), .uint32(count)]) }

    package func settingsChanged(appID: AppID?) {
        emit(.settingsChanged, [.text(appID?.text ?? "")])
        if appID == nil { onSettingsChange() }
    }

    package func subscriptionEnded(appID: AppID, channel: String, reason: String) {
        emit(.subscriptionEnded, [.text(appID.text), .text(channel), .text(reason)])
    }

    package func notificationArrived(entry: EntryID) { emit(.notificationArrived, [.int64(entry.rawValue)]) }

    package func alertsChanged() { emit(.alertsChanged, []) }

    package func inboxChanged() {
        emit(.inboxChanged, [])
        onInboxChange()
    }

    /// Reports the status to the service manager and emits StatusChanged, unless the status is unchanged.
    package func statusChanged() {
        // The comparison leaves out times, because a new time alone is no change.
        var status = agent.status(now: .unixEpoch)
        status.nextTryAt = nil
        guard status != emittedStatus else { return }
        emittedStatus = status
        ServiceManager.notify("STATUS=\(status.line)")
        emit(.statusChanged, [])
    }

    private func emit(_ signal: AgentSignal, _ arguments: [BusValue]) {
        do {
            try connection.emit(AgentInterface.path, AgentInterface.name, signal.rawValue, arguments)
        } catch {
            agentLog.warning("signal_not_sent", ["signal": signal.rawValue, "error": error.message])
        }
    }
}

extension BusError {
    /// Creates the error that a client gets.
    init(_ refusal: AgentRefusal) {
        self.init(name: refusal.code.busName, message: refusal.message)
    }
}

extension EventTypeTable.EventType {
    fileprivate var record: EventTypeRecord {
        var record = EventTypeRecord()
        (record.id, record.name) = (id, name)
        return record
    }
}

extension SettingService.EffectiveSetting {
    fileprivate var record: SettingRecord {
        var record = SettingRecord()
        record.event = event
        record.name = setting.rawValue
        record.value = value.text
        record.isLocked = value.isLocked
        record.origin = value.origin.rawValue
        return record
    }
}
