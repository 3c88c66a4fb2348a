// SPDX-License-Identifier: Apache-2.0

internal import LinuxDesktop
package import PushDBus
package import PushNet

/// Opens apps through D-Bus activation, or by the `Exec` line of the .desktop file; never through a shell.
///
/// The notification is passed as JSON: as the parameter of the action `view-notification`, or in the environment
/// variable `POSTHORN_NOTIFICATION`. The members `action` and `text`, and the variables `POSTHORN_ACTION` and
/// `POSTHORN_TEXT`, hold the button that the user chose and the typed text.
///
/// - SeeAlso: Desktop Entry Specification 1.5, sections 7 and 8.
package final class AppLauncher: AppOpener {
    /// The action of `org.freedesktop.Application` that gets the notification.
    static let actionName = "view-notification"
    /// The maximum size of a notification that is passed to an app, in bytes; Linux limits an environment variable to
    /// 128 KiB.
    static let notificationByteCountMax = 64 * 1024

    let connection: BusConnection
    private let environment: [String: String]
    let entries: DesktopEntries
    private let children: ChildProcesses

    /// Creates the launcher with its means of finding and starting apps.
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

    package func open(
        appID: String, notification: [UInt8], action: ChosenAction?, activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard let entry = entries.find(appID) else { return completion(.failure(.noDesktopFile(appID: appID))) }
        guard notification.count <= AppLauncher.notificationByteCountMax else {
            return completion(.failure(.failed("the notification has \(notification.count) bytes")))
        }
        open(entry, String(decoding: notification, as: UTF8.self), action, activationToken, completion)
    }

    package func launch(
        appID: String, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard let entry = entries.find(appID) else { return completion(.failure(.noDesktopFile(appID: appID))) }
        open(entry, nil, nil, activationToken, completion)
    }

    private func open(
        _ entry: DesktopEntry, _ notification: String?, _ action: ChosenAction?, _ token: String?,
        _ completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard entry.isDBusActivatable, AppLauncher.isBusName(entry.id) else {
            return execute(entry, notification, action, token, completion)
        }
        activate(entry, notification, token) { [weak self] error in
            guard let error else { return completion(.success(())) }
            guard let self, entry.exec ?? entry.terminalExec != nil, AppLauncher.isNobodyThere(error) else {
                return completion(.failure(.failed("\(error.name): \(error.message)")))
            }
            execute(entry, notification, action, token, completion)
        }
    }

    // MARK: D-Bus activation

    private func activate(
        _ entry: DesktopEntry, _ notification: String?, _ token: String?, completion: @escaping (BusError?) -> Void
    ) {
        let platformData = BusValue.dictionary(
            token.map { [("activation-token", .string($0)), ("desktop-startup-id", .string($0))] } ?? [])
        let (member, arguments): (String, [BusValue]) =
            if let notification {
                (
                    "ActivateAction",
                    [.string(AppLauncher.actionName), .array("v", [.variant(.string(notification))]), platformData]
                )
            } else {
                ("Activate", [platformData])
            }
        connection.send(
            entry.id, AppLauncher.objectPath(of: entry.id), "org.freedesktop.Application", member, arguments
        ) { answer in
            switch answer {
            case .success: completion(nil)
            case .failure(let error): completion(error)
            }
        }
    }

    /// Returns the object path of an app ID: its dots become slashes and its dashes underscores.
    static func objectPath(of appID: String) -> String {
        "/" + String(String.UnicodeScalarView(appID.unicodeScalars.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
    }

    /// Whether an app ID is a valid bus name: two or more parts, none of them empty or with a leading digit.
    static func isBusName(_ appID: String) -> Bool {
        let parts = appID.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return parts.count > 1 && parts.allSatisfy { part in part.first.map { !digits.contains($0) } ?? false }
    }

    /// Whether the error proves that no app received the action, so that starting the program does not open it twice.
    ///
    /// A timeout is not such an error: the app may have opened and be slow.
    ///
    /// - Parameter error: The error of the call.
    /// - Returns: Whether the program may be started.
    static func isNobodyThere(_ error: BusError) -> Bool {
        switch error.name {
        case BusError.serviceUnknownName, BusError.unknownMethodName, "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.NameHasNoOwner":
            true
        default: error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        }
    }

    // MARK: Starting the program

    /// Starts the program of an app; an early exit with status 126 or 127 counts as a failure.
    func execute(
        _ entry: DesktopEntry, _ notification: String?, _ action: ChosenAction?, _ token: String?,
        _ completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        var launch: ProgramLaunch
        switch self.launch(entry) {
        case .success(let found): launch = found
        case .failure(let error): return completion(.failure(error))
        }
        launch.environment["POSTHORN_NOTIFICATION"] = notification
        launch.environment["POSTHORN_ACTION"] = action?.id
        launch.environment["POSTHORN_TEXT"] = action?.text
        launch.environment["XDG_ACTIVATION_TOKEN"] = token
        launch.environment["DESKTOP_STARTUP_ID"] = token
        let program = launch.program
        do throws(NetError) {
            try children.start(launch) { status in
                if let status, AppLauncher.statusesOfNothing.contains(status) {
                    return completion(.failure(.failed("the app ended at once with status \(status): \(program)")))
                }
                completion(.success(()))
            }
        } catch {
            guard case .system(_, let code, _) = error else { preconditionFailure("a program has no address") }
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
            guard let terminal = entries.program(AppLauncher.terminalProgram) else {
                return .failure(.needsTerminal(path: entry.path))
            }
            (program, arguments) = (terminal, [AppLauncher.terminalProgram, program] + exec.dropFirst())
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
    private static let statusesOfNothing: Set<Int32> = [126, 127]
}
