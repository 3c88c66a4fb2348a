// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import CommandLineKit
internal import Glibc
internal import LinuxDesktop
internal import PushCore
internal import PushDBus
internal import PushNet

/// Parses the command line and runs the agent until it ends.
///
/// - Parameters:
///   - arguments: The arguments without the program's name.
///   - environment: The process's variables.
/// - Returns: The exit status, a raw value of `AgentExit`.
package func runAgent(arguments: [String], environment: [String: String]) -> Int32 {
    let invocation: Invocation
    switch AgentCommand.command.parse(arguments) {
    case .failure(let error): return complain(error.message, error.remedy, .usage)
    case .success(.help(let text)): return say(text)
    case .success(.version): return say("posthorn-agent \(ProductVersion.text)\n")
    case .success(.run(let parsed)): invocation = parsed
    }
    MessageCatalog.load()
    let directories = AgentDirectories(environment: environment)
    defer { agentLog.flush() }
    do {
        let configuration = try AgentConfiguration(
            path: invocation.value("config") ?? directories.configurationPath, isRequired: invocation.has("config"),
            environment: environment, defaultName: defaultName())
        let program = try AgentProgram(
            directories, configuration, environment: environment, wantsTerminal: invocation.has("terminal"))
        return try program.run().rawValue
    } catch let error as AgentConfigurationError {
        return complain(error.message, error.remedy, .badConfiguration)
    } catch let error as StorageError {
        if case .alreadyRunning = error { return complain(error.message, error.remedy, .alreadyRunning) }
        return complain(error.message, error.remedy, .storageFailed)
    } catch {
        return complain(
            "cannot start: \(error)", "See the agent's log: journalctl --user -u posthorn-agent", .internalFailure)
    }
}

/// The running agent and all objects it depends on.
final class AgentProgram {
    private let loop: EventLoop
    private let lock: AgentLock
    private let agent: Agent
    private let signals: SignalHandler
    private let desktop: DesktopEnvironment
    private let service: AgentService?
    private let tray: TrayService?
    private let enrolment: UnattendedEnrolment
    private var wakeWatch: SleepMonitor?
    private var systemReconnector: BusReconnector?
    private var routeWatch: RouteWatch?
    private var exit = AgentExit.stopped

    init(
        _ directories: AgentDirectories, _ configuration: AgentConfiguration, environment: [String: String],
        wantsTerminal: Bool
    ) throws {
        loop = try EventLoop()
        let loop = loop
        try directories.makeState()
        lock = try AgentLock(path: directories.lockPath)
        let database = try AgentDatabase(path: directories.databasePath)
        // Must precede the threads of the sound library and of the resolver, because they inherit the blocked signals.
        signals = try SignalHandler(loop: loop)
        desktop = try DesktopEnvironment(loop: loop, environment: environment, wantsTerminal: wantsTerminal)
        var agentEnvironment = desktop.agentEnvironment
        agentEnvironment.pictures = PictureQueue.Means(
            fetcher: PictureFetcher(loop: loop, access: configuration.access, caFile: environment["SSL_CERT_FILE"]),
            converter: PictureConverter(loop: loop, program: PictureConverter.panel),
            folder: PictureFolder(path: directories.pictures))
        agentEnvironment.buttonRequests = ButtonRequestSender(
            loop: loop, access: configuration.access, caFile: environment["SSL_CERT_FILE"])
        let agent = Agent(
            loop: loop, database: database, secretFile: SecretFile(path: directories.secretPath),
            authorityFile: EnrolledAuthority(path: directories.authorityPath),
            environment: agentEnvironment, streamForm: configuration.streamForm, access: configuration.access,
            configuredTrust: .init(serverURL: configuration.serverURL, caFile: configuration.caFile))
        self.agent = agent
        signals.onStop = { agent.stop { loop.stop() } }
        if let connection = desktop.connection {
            let callers = CallerRules(connection, loop: loop, environment: environment)
            service = try AgentService(agent, on: connection, deviceName: configuration.deviceName, callers: callers)
            tray = desktop.agentEnvironment.panel.flatMap { panel in
                TrayService(agent, panel: panel, on: connection, callers: callers)
            }
        } else {
            (service, tray) = (nil, nil)
        }
        enrolment = UnattendedEnrolment(agent, loop: loop, configuration: configuration)
    }

    /// Runs until a signal arrives, the disk fails, or the session bus is lost.
    func run() throws -> AgentExit {
        agent.observer = service
        agent.onFatal = { [weak self] _ in self?.end(.storageFailed) }
        desktop.onBusLost = { [weak self] in self?.end(.busLost) }
        agent.savesPower = desktop.savesPower
        desktop.onPowerChange = { [weak desktop, agent] in agent.savesPower = desktop?.savesPower ?? false }
        desktop.onLockChange = { [agent, tray] in
            agent.alerts.lockChanged()
            tray?.refresh()
        }
        service?.onInboxChange = { [weak tray] in tray?.inboxChanged() }
        service?.onSettingsChange = { [weak tray] in tray?.settingsChanged() }
        try agent.start()
        tray?.settingsChanged()
        if try service?.claimName() == false {
            agentLog.warning("bus_name_taken", ["name": AgentInterface.name])
        }
        watchMachine()
        enrolment.start()
        ServiceManager.notify("READY=1")
        let status = agent.status(now: .now)
        ServiceManager.notify("STATUS=\(status.line)")
        agentLog.info("started", ["version": status.version, "presenter": status.presenter])
        loop.run()
        ServiceManager.notify("STOPPING=1")
        signals.stop()
        routeWatch?.stop()
        agentLog.info("stopped")
        return exit
    }

    private func end(_ exit: AgentExit) {
        self.exit = exit
        loop.stop()
    }

    private func watchMachine() {
        systemReconnector = BusReconnector(loop: loop) { [weak self] in
            try self?.watchSystem()
            agentLog.info("system_bus_back")
        }
        do throws(BusError) {
            try watchSystem()
        } catch {
            // Without the system bus, a broken connection is still detected, only later.
            agentLog.info("no_system_bus", ["error": error.message])
        }
        do throws(NetError) {
            routeWatch = try RouteWatch(loop: loop) { [weak self] in self?.hear(.networkChanged) }
        } catch {
            agentLog.info("routes_not_watched", ["error": "\(error)"])
        }
    }

    private func watchSystem() throws(BusError) {
        let watch = try SleepMonitor(loop: loop, connection: BusConnection(.system), log: agentLog) {
            [weak self] in self?.hear($0)
        }
        watch.onLost = { [weak self] in self?.systemReconnector?.lost() }
        wakeWatch = watch
    }

    private func hear(_ event: SleepMonitor.Event) {
        agentLog.info("machine", ["news": event.word])
        switch event {
        case .sleeps: agent.sleep()
        case .wakes: agent.wake()
        case .networkChanged: agent.networkChanged()
        }
    }
}

/// Returns the user's and the host's name, because several users of one machine have an agent each.
private func defaultName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    let hasHost = unsafe gethostname(&name, name.count - 1) == 0
    let host = hasHost ? name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } : []
    // The agent has no threads yet that could change the result.
    let user = unsafe getpwuid(getuid()).map { unsafe String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
    let bytes = Array("\(user)@".utf8) + (host.isEmpty ? Array("linux".utf8) : host)
    return String(decoding: bytes.prefix(Limits.displayNameByteCountMax), as: UTF8.self)
}

private func complain(_ message: String, _ remedy: String, _ exit: AgentExit) -> Int32 {
    StandardStream.error.writeLastWords("posthorn-agent: \(message)\n\(remedy)\n")
    return exit.rawValue
}

private func say(_ text: String) -> Int32 {
    StandardStream.output.write(text.utf8.last == UInt8(ascii: "\n") ? text : "\(text)\n")
    return AgentExit.stopped.rawValue
}
