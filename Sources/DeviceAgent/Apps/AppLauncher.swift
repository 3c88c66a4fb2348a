// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// Opens apps for View: by D-Bus where the app is activatable, otherwise by its `Exec` line; never by a shell.
///
/// The notification reaches the app as JSON: as the parameter of the action `view-notification`, or in the environment
/// variable `POSTHORN_NOTIFICATION`. A button of the app that was chosen is in the members `action` and `text`, and in
/// `POSTHORN_ACTION` and `POSTHORN_TEXT`.
///
/// - SeeAlso: Desktop Entry Specification 1.5, sections 7 and 8.
package final class AppLauncher: AppOpener {
    /// The action of `org.freedesktop.Application` that gets the notification.
    static let actionName = "view-notification"
    /// The longest notification that is handed over, in bytes: an environment variable has 128 KiB at most.
    static let notificationByteCountMax = 64 * 1024

    let connection: BusConnection
    private let environment: [String: String]
    let entries: DesktopEntries
    private let children: ChildProcesses

    /// Takes what apps are found and started with.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The agent's; apps get it without what is the agent's own.
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

    // MARK: By D-Bus

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

    /// `/` and the app id, its dots as slashes and its dashes as underscores.
    static func objectPath(of appID: String) -> String {
        "/" + String(String.UnicodeScalarView(appID.unicodeScalars.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
    }

    /// Whether an app id can be a bus name: two parts or more, none of them empty or with a digit in front.
    static func isBusName(_ appID: String) -> Bool {
        let parts = appID.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return parts.count > 1 && parts.allSatisfy { part in part.first.map { !digits.contains($0) } ?? false }
    }

    /// Whether no app got the action, so that starting the program does not open it twice.
    ///
    /// A call without answer is none of these: the app may have opened and be slow.
    static func isNobodyThere(_ error: BusError) -> Bool {
        switch error.name {
        case BusError.serviceUnknownName, BusError.unknownMethodName, "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.NameHasNoOwner":
            true
        default: error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        }
    }

    // MARK: By its program

    /// Starts the program; one that ends at once with the status for what cannot be run opened nothing.
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

    /// What an entry says to start, if that is there.
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

    /// Opens the person's terminal around a program: the proposal of freedesktop.org for `Terminal=true`.
    private static let terminalProgram = "xdg-terminal-exec"

    /// With these shells, `env` and others say that there is no such program, or that it cannot be executed.
    private static let statusesOfNothing: Set<Int32> = [126, 127]
}
