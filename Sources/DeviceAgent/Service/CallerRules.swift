// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import Glibc
internal import LinuxDesktop
internal import PushCore
internal import PushDBus
internal import PushNet

/// Decides which caller may call which method.
protocol CallerPolicy: AnyObject {
    /// Decides whether a call is allowed, now or later; the calls of one caller are decided in order.
    func decide(on call: IncomingCall, completion: @escaping (CallVerdict) -> Void)
}

/// The decision on a call.
enum CallVerdict: Sendable, Equatable {
    /// The call is allowed, on behalf of this registrant.
    case allowed(RegistrationService.Registrant)
    /// The call is refused with an error.
    case refused(AgentRefusal)
}

/// Lets the user's tools call every method, lets apps access their own data, and refuses other users.
///
/// The tools are `posthorn` and `posthorn-panel` next to the agent's own program. Every other program is an app. It may
/// act for an app ID if it owns that bus name, or if that .desktop file starts it. In a Flatpak, it may act only for
/// the Flatpak's ID and IDs below it. An app that cannot be identified reliably is refused.
///
/// Requests to the bus are asynchronous: sd-bus would queue everything that floods the agent during a blocking call.
final class CallerRules: CallerPolicy {
    private let connection: BusConnection
    private let loop: EventLoop
    private let entries: DesktopEntries
    private let tools: [String]
    private let processFolder: String
    /// The identified callers; a bus never reuses a unique name.
    private var known: [String: Caller] = [:]
    private static let knownCountMax = 256
    /// The calls that wait until their caller is identified.
    private var waiting: [String: [(Caller) -> Void]] = [:]

    /// The kind of a caller.
    private enum Caller {
        case tool
        case app(RunningProgram)
        case otherUser
        /// The caller could not be identified reliably.
        case unknown
    }

    /// Creates the policy for the callers on one bus.
    ///
    /// - Parameters:
    ///   - connection: The agent's session bus, which identifies callers.
    ///   - loop: The loop that processes the connection.
    ///   - environment: The agent's environment, with which apps are found.
    ///   - toolFolder: The directory of the user's tools; nil for that of the agent's own program.
    ///   - processFolder: The directory in which the system describes processes.
    init(
        _ connection: BusConnection, loop: EventLoop, environment: [String: String], toolFolder: String? = nil,
        processFolder: String = "/proc"
    ) {
        self.connection = connection
        self.loop = loop
        self.processFolder = processFolder
        entries = DesktopEntries(environment: environment)
        let folder = toolFolder ?? Self.ownFolder
        tools = folder.map { folder in ["posthorn", "posthorn-panel"].map { "\(folder)/\($0)" } } ?? []
    }

    func decide(on call: IncomingCall, completion: @escaping (CallVerdict) -> Void) {
        find(call.sender) { [self] caller in
            switch caller {
            case .tool: completion(.allowed(.tool))
            case .app(let program): loop.startTask { [self] in completion(await verdict(on: call, from: program)) }
            case .otherUser:
                completion(.refused(AgentRefusal(.notYours, "This agent serves only the user who runs it.")))
            case .unknown:
                completion(
                    .refused(
                        AgentRefusal(
                            .notYours,
                            "The calling program is unknown. It must keep running until it has the answer.")))
            }
        }
    }

    /// Decides whether a caller may use the item in the tray: every program of the user outside a Flatpak may, because
    /// any of them can be the tray; the decisions on one caller are in order.
    func decideOnTray(for caller: String, completion: @escaping (_ isAllowed: Bool) -> Void) {
        find(caller) { caller in
            switch caller {
            case .tool: completion(true)
            case .app(let program): completion(program.flatpak == nil)
            case .otherUser, .unknown: completion(false)
            }
        }
    }

    // MARK: Permissions of apps

    private func verdict(on call: IncomingCall, from program: RunningProgram) async -> CallVerdict {
        switch AgentMethod(rawValue: call.member) {
        // Every program on the bus receives BadgeChanged, too.
        case .getStatus, .getBadges: return .allowed(.app(isSandboxed: program.flatpak != nil))
        case .register, .unregister, .subscribe, .unsubscribe, .getSetting, .listSettings:
            // An empty app ID means the user's own settings. A missing or malformed argument is refused, too.
            guard case .string(let text)? = call.arguments.first, let appID = AppID(nilIfEmpty: text) else { break }
            let owns = await isOwner(of: appID, call.sender, program)
            return owns
                ? .allowed(.app(isSandboxed: program.flatpak != nil)) : .refused(notOwned(appID, program))
        // New methods are for the user's tools until they are listed here.
        default: break
        }
        return .refused(
            AgentRefusal(.notYours, "An app may not call \(call.member). Use posthorn or posthorn-panel."))
    }

    private func isOwner(of appID: AppID, _ sender: String, _ program: RunningProgram) async -> Bool {
        guard DesktopEntry.isValidID(appID.text) else { return false }
        if let flatpak = program.flatpak {
            return appID == AppID(flatpak) || appID.text.utf8.starts(with: "\(flatpak).".utf8)
        }
        if AppStarter.isBusName(appID), await askBus("GetNameOwner", appID.text)?.stringValue == sender { return true }
        guard let entry = entries.find(appID), let started = StartedProgram(entry, entries) else { return false }
        return started.isRun(by: program)
    }

    private func notOwned(_ appID: AppID, _ program: RunningProgram) -> AgentRefusal {
        if let flatpak = program.flatpak {
            return AgentRefusal(.notYours, "This Flatpak may act for \(flatpak) only, not for '\(appID)'.")
        }
        return AgentRefusal(
            .notYours,
            """
            This program may not act for '\(appID)'. It must own the bus name \(appID), or be the program in the Exec \
            line of \(appID).desktop. A script can use the command posthorn instead.
            """)
    }

    // MARK: Identifying callers

    private func find(_ sender: String, _ completion: @escaping (Caller) -> Void) {
        if let caller = known[sender] { return completion(caller) }
        let isAsked = waiting[sender] != nil
        waiting[sender, default: []].append(completion)
        guard !isAsked else { return }
        loop.startTask { [self] in
            let caller = await lookUp(sender)
            let calls = waiting.removeValue(forKey: sender) ?? []
            remember(caller, sender)
            for call in calls { call(caller) }
        }
    }

    private func remember(_ caller: Caller, _ sender: String) {
        if case .unknown = caller { return }
        if known.count >= Self.knownCountMax { known.removeAll() }
        known[sender] = caller
    }

    private func lookUp(_ sender: String) async -> Caller {
        guard let credentials = await askForCredentials(sender) else { return .unknown }
        // Root has full access anyway, and administers the agent of a machine on the system bus.
        if credentials.user == 0, getuid() != 0 { return .tool }
        guard credentials.user == getuid() else { return .otherUser }
        let program = RunningProgram(process: credentials.process, in: processFolder)
        // A caller that is still on the bus has not ended, so its process ID has not been reused.
        guard let program, await askForCredentials(sender) == credentials else { return .unknown }
        let isTool = program.flatpak == nil && tools.contains { FileIdentity($0) == program.executable }
        return isTool ? .tool : .app(program)
    }

    private struct Credentials: Equatable {
        var user: UInt32
        var process: Int32
    }

    private func askForCredentials(_ sender: String) async -> Credentials? {
        guard
            let user = await askBus("GetConnectionUnixUser", sender)?.integerValue.flatMap(UInt32.init(exactly:)),
            let process = await askBus("GetConnectionUnixProcessID", sender)?.integerValue.flatMap(
                Int32.init(exactly:))
        else { return nil }
        return Credentials(user: user, process: process)
    }

    private func askBus(_ member: String, _ name: String) async -> BusValue? {
        let bus = "org.freedesktop.DBus"
        return await withCheckedContinuation { continuation in
            connection.send(bus, "/org/freedesktop/DBus", bus, member, [.string(name)]) { answer in
                continuation.resume(returning: try? answer.get().first)
            }
        }
    }

    private static var ownFolder: String? {
        guard let program = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(program) }
        return unsafe PrivateFile.directory(of: String(cString: program))
    }
}
