// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushDBus
internal import PushNet

/// Says which caller may do what.
package protocol CallerPolicy: AnyObject {
    /// Why a call is not carried out; nil when it may be.
    func objection(to call: IncomingCall) -> AgentRefusal?
}

/// The person's own tools may do everything, an app what is its own, and other persons nothing.
///
/// The tools are `posthorn` and `posthorn-panel` beside the agent's own program. Any other program is an app, and acts
/// for app ids that it can own: a bus name that it holds, or the .desktop file that starts it; in a Flatpak only for the
/// Flatpak's id and what lies below that. It is refused where any of this cannot be told for sure.
package final class CallerRules: CallerPolicy {
    private let connection: BusConnection
    private let entries: DesktopEntries
    private let tools: [String]
    private let processFolder: String
    /// Callers that were looked at; a bus never uses a unique name twice.
    private var known: [String: Caller] = [:]
    private static let knownCountMax = 256

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

    package func objection(to call: IncomingCall) -> AgentRefusal? {
        switch caller(call.sender) {
        case .tool: return nil
        case .app(let program): return objection(to: call, from: program)
        case .otherPerson:
            return AgentRefusal(.notYours, "This agent serves the person who runs it, and nobody else.")
        case .unknown:
            return AgentRefusal(
                .notYours, "It cannot be told which program calls; it must stay until it has its answer.")
        }
    }

    // MARK: What apps may do

    private func objection(to call: IncomingCall, from program: RunningProgram) -> AgentRefusal? {
        switch call.member {
        case "GetStatus": return nil
        case "Register", "Unregister", "Subscribe", "Unsubscribe", "GetSetting", "ListSettings":
            // Of the person, or no text at all: the method itself says what is wrong with the latter.
            guard case .string(let appID)? = call.arguments.first, !appID.isEmpty else { break }
            return owns(appID, call.sender, program) ? nil : notOwned(appID, program)
        // Whatever is added is the person's until it says otherwise here.
        default: break
        }
        return AgentRefusal(
            .notYours, "An app may not call \(call.member) for the person: use posthorn, or Posthorn's window.")
    }

    private func owns(_ appID: String, _ sender: String, _ program: RunningProgram) -> Bool {
        guard DesktopEntry.isValidID(appID) else { return false }
        if let flatpak = program.flatpak {
            return appID.utf8.elementsEqual(flatpak.utf8) || appID.utf8.starts(with: "\(flatpak).".utf8)
        }
        if AppLauncher.isBusName(appID), let owner = try? connection.owner(of: appID), owner == sender { return true }
        guard let entry = entries.find(appID), let started = StartedProgram(entry, entries) else { return false }
        return started.isRun(by: program)
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

    private func caller(_ sender: String) -> Caller {
        if let caller = known[sender] { return caller }
        let caller = lookUp(sender)
        if case .unknown = caller { return caller }
        if known.count >= Self.knownCountMax { known.removeAll() }
        known[sender] = caller
        return caller
    }

    private func lookUp(_ sender: String) -> Caller {
        guard let credentials = try? connection.credentials(of: sender) else { return .unknown }
        // Root may do everything anyway, and administers the agent of a machine on the system bus.
        if credentials.user == 0, getuid() != 0 { return .tool }
        guard credentials.user == getuid() else { return .otherPerson }
        // While the caller is still on the bus, its process has not ended and the number is still its own.
        guard let program = RunningProgram(process: credentials.process, in: processFolder),
            let again = try? connection.credentials(of: sender), again == credentials
        else { return .unknown }
        let isTool = program.flatpak == nil && tools.contains { FileIdentity($0) == program.executable }
        return isTool ? .tool : .app(program)
    }

    private static var ownFolder: String? {
        guard let program = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(program) }
        return unsafe PrivateFile.directory(of: String(cString: program))
    }
}
