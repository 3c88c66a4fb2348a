// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushDBus
internal import PushNet

/// Says which caller may do what.
package protocol CallerPolicy: AnyObject {
    /// Finds out whether a call is carried out; a caller's calls are judged in order, now or later.
    func judge(_ call: IncomingCall, completion: @escaping (CallVerdict) -> Void)
}

/// Whether a call is carried out.
package enum CallVerdict: Sendable, Equatable {
    /// It is, and for whom.
    case allowed(Agent.Registrant)
    /// It is not.
    case refused(AgentRefusal)
}

/// The person's own tools may do everything, an app what is its own, and other persons nothing.
///
/// The tools are `posthorn` and `posthorn-panel` beside the agent's own program. Any other program is an app, and acts
/// for app ids that it can own: a bus name that it holds, or the .desktop file that starts it; in a Flatpak only for the
/// Flatpak's id and what lies below that. It is refused where any of this cannot be told for sure.
///
/// The bus is asked without waiting: sd-bus would take in all that floods the agent meanwhile.
package final class CallerRules: CallerPolicy {
    private let connection: BusConnection
    private let entries: DesktopEntries
    private let tools: [String]
    private let processFolder: String
    /// Callers that were looked at; a bus never uses a unique name twice.
    private var known: [String: Caller] = [:]
    private static let knownCountMax = 256
    /// What waits until it is known who its caller is.
    private var waiting: [String: [(Caller) -> Void]] = [:]

    /// Who calls.
    private enum Caller {
        case tool
        case app(RunningProgram)
        case otherPerson
        /// Nothing was found out, or not for sure.
        case unknown
    }

    /// Takes the agent's connection, and what apps are found with.
    ///
    /// - Parameters:
    ///   - connection: The session bus, which says who a caller is.
    ///   - environment: The agent's.
    ///   - toolFolder: Where the person's tools lie; where the agent's own program does when nil.
    ///   - processFolder: Where the system describes processes.
    package init(
        _ connection: BusConnection, environment: [String: String], toolFolder: String? = nil,
        processFolder: String = "/proc"
    ) {
        self.connection = connection
        self.processFolder = processFolder
        entries = DesktopEntries(environment: environment)
        let folder = toolFolder ?? Self.ownFolder
        tools = folder.map { folder in ["posthorn", "posthorn-panel"].map { "\(folder)/\($0)" } } ?? []
    }

    package func judge(_ call: IncomingCall, completion: @escaping (CallVerdict) -> Void) {
        find(call.sender) { [weak self] caller in
            switch caller {
            case .tool: completion(.allowed(.person))
            case .app(let program): self?.judge(call, from: program, completion)
            case .otherPerson:
                completion(
                    .refused(
                        AgentRefusal(.notYours, "This agent serves the person who runs it, and nobody else.")))
            case .unknown:
                completion(
                    .refused(
                        AgentRefusal(
                            .notYours,
                            "It cannot be told which program calls; it must stay until it has its answer.")))
            }
        }
    }

    // MARK: What apps may do

    private func judge(
        _ call: IncomingCall, from program: RunningProgram, _ completion: @escaping (CallVerdict) -> Void
    ) {
        switch call.member {
        // Of badges everybody on the bus hears, too.
        case "GetStatus", "GetBadges": return completion(.allowed(.app))
        case "Register", "Unregister", "Subscribe", "Unsubscribe", "GetSetting", "ListSettings":
            // Of the person, or no text at all: the method itself says what is wrong with the latter.
            guard case .string(let appID)? = call.arguments.first, !appID.isEmpty else { break }
            return checkOwner(of: appID, call.sender, program) { [weak self] owns in
                guard let self else { return }
                completion(owns ? .allowed(.app) : .refused(notOwned(appID, program)))
            }
        // Whatever is added is the person's until it says otherwise here.
        default: break
        }
        completion(
            .refused(
                AgentRefusal(
                    .notYours,
                    "An app may not call \(call.member) for the person: use posthorn, or Posthorn's window.")))
    }

    private func checkOwner(
        of appID: String, _ sender: String, _ program: RunningProgram, _ completion: @escaping (Bool) -> Void
    ) {
        guard DesktopEntry.isValidID(appID) else { return completion(false) }
        if let flatpak = program.flatpak {
            return completion(
                appID.utf8.elementsEqual(flatpak.utf8) || appID.utf8.starts(with: "\(flatpak).".utf8))
        }
        let isStarted = { [entries] in
            guard let entry = entries.find(appID), let started = StartedProgram(entry, entries) else { return false }
            return started.isRun(by: program)
        }
        guard AppLauncher.isBusName(appID) else { return completion(isStarted()) }
        askBus("GetNameOwner", appID) { owner in completion(owner?.stringValue == sender || isStarted()) }
    }

    private func notOwned(_ appID: String, _ program: RunningProgram) -> AgentRefusal {
        if let flatpak = program.flatpak {
            return AgentRefusal(.notYours, "This Flatpak may act for \(flatpak) only, not for '\(appID)'.")
        }
        return AgentRefusal(
            .notYours,
            """
            This program may not act for '\(appID)': it must hold that bus name, or be what the Exec line of \
            \(appID).desktop starts. A script without either uses posthorn.
            """)
    }

    // MARK: Who calls

    private func find(_ sender: String, _ completion: @escaping (Caller) -> Void) {
        if let caller = known[sender] { return completion(caller) }
        let isAsked = waiting[sender] != nil
        waiting[sender, default: []].append(completion)
        guard !isAsked else { return }
        lookUp(sender) { [weak self] caller in
            guard let self else { return }
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

    private func lookUp(_ sender: String, _ completion: @escaping (Caller) -> Void) {
        askForCredentials(sender) { [weak self] credentials in
            guard let self, let credentials else { return completion(.unknown) }
            // Root may do everything anyway, and administers the agent of a machine on the system bus.
            if credentials.user == 0, getuid() != 0 { return completion(.tool) }
            guard credentials.user == getuid() else { return completion(.otherPerson) }
            let program = RunningProgram(process: credentials.process, in: processFolder)
            // While the caller is still on the bus, its process has not ended and the number is still its own.
            askForCredentials(sender) { [tools] again in
                guard let program, again == credentials else { return completion(.unknown) }
                let isTool = program.flatpak == nil && tools.contains { FileIdentity($0) == program.executable }
                completion(isTool ? .tool : .app(program))
            }
        }
    }

    private struct Credentials: Equatable {
        var user: UInt32
        var process: Int32
    }

    private func askForCredentials(_ sender: String, _ completion: @escaping (Credentials?) -> Void) {
        askBus("GetConnectionUnixUser", sender) { [weak self] user in
            guard let self, let user = user?.integerValue.flatMap(UInt32.init(exactly:)) else {
                return completion(nil)
            }
            askBus("GetConnectionUnixProcessID", sender) { process in
                completion(
                    process?.integerValue.flatMap(Int32.init(exactly:)).map { Credentials(user: user, process: $0) })
            }
        }
    }

    private func askBus(_ member: String, _ name: String, _ completion: @escaping (BusValue?) -> Void) {
        let bus = "org.freedesktop.DBus"
        connection.send(bus, "/org/freedesktop/DBus", bus, member, [.string(name)]) { answer in
            completion(try? answer.get().first)
        }
    }

    private static var ownFolder: String? {
        guard let program = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(program) }
        return unsafe PrivateFile.directory(of: String(cString: program))
    }
}
