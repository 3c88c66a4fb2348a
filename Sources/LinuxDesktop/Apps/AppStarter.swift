// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushDBus
package import PushNet

/// Opens apps through D-Bus activation, or by the `Exec` line of the .desktop file; never through a shell.
///
/// - SeeAlso: Desktop Entry Specification 1.5, sections 7 and 8.
package final class AppStarter {
    /// The values that an app gets when it is opened.
    package struct Opening: Sendable {
        /// The action of `org.freedesktop.Application` and its parameter; nil to open the app without an action.
        package var action: (name: String, parameter: String)?
        /// The variables that the app's program gets, if it is started instead of activated; nil removes a variable.
        package var variables: [String: String?] = [:]
        /// The token that lets the app raise its window.
        package var activationToken: String?

        /// Creates an opening without an action or a token.
        package init() {}
    }

    private let connection: BusConnection
    private let environment: [String: String]
    private let entries: DesktopEntries
    private let children: ChildProcesses

    /// Creates the starter with its means of reaching and starting apps.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The agent's environment; apps get it without the agent's private variables.
    package init(connection: BusConnection, loop: EventLoop, environment: [String: String]) {
        self.connection = connection
        self.environment = environment
        children = ChildProcesses(loop: loop)
        entries = DesktopEntries(environment: environment)
    }

    /// Returns the `.desktop` entry of an app ID; nil if no such app is installed.
    package func find(_ appID: AppID) -> DesktopEntry? { entries.find(appID) }

    /// Opens an app once.
    ///
    /// - Parameters:
    ///   - entry: The app.
    ///   - opening: The values that the app gets.
    ///   - completion: Called once.
    package func open(
        _ entry: DesktopEntry, _ opening: Opening, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard entry.isDBusActivatable, AppStarter.isBusName(entry.id) else {
            return execute(entry, opening, completion: completion)
        }
        activate(entry, opening) { [weak self] error in
            guard let error else { return completion(.success(())) }
            guard let self, entry.exec ?? entry.terminalExec != nil, AppStarter.provesNotReceived(error) else {
                return completion(.failure(.failed("\(error.name): \(error.message)")))
            }
            execute(entry, opening, completion: completion)
        }
    }

    // MARK: D-Bus activation

    private func activate(_ entry: DesktopEntry, _ opening: Opening, completion: @escaping (BusError?) -> Void) {
        let platformData = BusValue.dictionary(
            opening.activationToken.map { [("activation-token", .string($0)), ("desktop-startup-id", .string($0))] }
                ?? [])
        let (member, arguments): (String, [BusValue]) =
            if let action = opening.action {
                (
                    "ActivateAction",
                    [.string(action.name), .array("v", [.variant(.string(action.parameter))]), platformData]
                )
            } else {
                ("Activate", [platformData])
            }
        connection.send(
            entry.id.text, AppStarter.objectPath(of: entry.id), "org.freedesktop.Application", member, arguments
        ) { answer in
            switch answer {
            case .success: completion(nil)
            case .failure(let error): completion(error)
            }
        }
    }

    /// Returns the object path of an app ID: its dots become slashes and its dashes underscores.
    package static func objectPath(of appID: AppID) -> String {
        "/" + String(String.UnicodeScalarView(appID.text.unicodeScalars.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
    }

    /// Returns whether an app ID is a valid bus name: two or more parts, none of them empty or with a leading digit.
    package static func isBusName(_ appID: AppID) -> Bool {
        let parts = appID.text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return parts.count > 1 && parts.allSatisfy { part in part.first.map { !digits.contains($0) } ?? false }
    }

    /// Returns whether the error proves that no app received the action, so that the program may be started.
    ///
    /// A timeout is not such an error: the app may have opened and be slow.
    ///
    /// - Parameter error: The error of the call.
    /// - Returns: Whether the program may be started.
    package static func provesNotReceived(_ error: BusError) -> Bool {
        switch error.name {
        case BusError.serviceUnknownName, BusError.unknownMethodName, "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.NameHasNoOwner":
            true
        default: error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        }
    }

    // MARK: Starting the program

    /// Starts the program of an app; an early exit with status 126 or 127 counts as a failure.
    ///
    /// - Parameters:
    ///   - entry: The app.
    ///   - opening: The variables and the token for the program; its action is ignored.
    ///   - completion: Called once.
    package func execute(
        _ entry: DesktopEntry, _ opening: Opening, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        var launch: ProgramLaunch
        switch self.launch(entry) {
        case .success(let found): launch = found
        case .failure(let error): return completion(.failure(error))
        }
        for (name, value) in opening.variables { launch.environment[name] = value }
        launch.environment["XDG_ACTIVATION_TOKEN"] = opening.activationToken
        launch.environment["DESKTOP_STARTUP_ID"] = opening.activationToken
        let program = launch.program
        do throws(NetError) {
            try children.start(launch) { status in
                if let status, AppStarter.notExecutableStatuses.contains(status) {
                    return completion(.failure(.failed("the app ended at once with status \(status): \(program)")))
                }
                completion(.success(()))
            }
        } catch {
            guard case .system(_, let code, _) = error else {
                preconditionFailure("ProgramLaunch threw NetError.badAddress")
            }
            completion(.failure(.failed("\(SystemError.text(code)): \(program)")))
        }
    }

    /// Returns the program that an entry starts, if it exists.
    private func launch(_ entry: DesktopEntry) -> Result<ProgramLaunch, AppOpenError> {
        guard let exec = entry.exec ?? entry.terminalExec, let name = exec.first else {
            let path = entry.path
            return .failure(entry.hasUnreadableExec ? .unreadableExec(path: path) : .notLaunchable(path: path))
        }
        guard var program = entries.program(name) else {
            return .failure(.noProgram(name))
        }
        var arguments = exec
        if entry.terminalExec != nil {
            guard let terminal = entries.program(AppStarter.terminalProgram) else {
                return .failure(.needsTerminal(path: entry.path))
            }
            (program, arguments) = (terminal, [AppStarter.terminalProgram, program] + exec.dropFirst())
        }
        var launch = ProgramLaunch(program, arguments, environment: ProgramEnvironment.withoutOwn(environment))
        if let directory = entry.workingDirectory {
            guard DesktopEntries.isDirectory(directory) else {
                return .failure(.noDirectory(directory, path: entry.path))
            }
            launch.directory = directory
        }
        return .success(launch)
    }

    /// The program that opens the user's terminal around another: freedesktop.org's proposal for `Terminal=true`.
    private static let terminalProgram = "xdg-terminal-exec"

    /// The exit statuses of shells, `env` and others for a program that does not exist or cannot be executed.
    private static let notExecutableStatuses: Set<Int32> = [126, 127]
}
