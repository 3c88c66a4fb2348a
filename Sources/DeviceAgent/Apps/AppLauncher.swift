// SPDX-License-Identifier: Apache-2.0

package import PushDBus
internal import PushNet

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
    private let children = ChildProcesses()

    /// Takes what apps are found and started with.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - environment: The agent's; apps get it without what the service manager meant for the agent alone.
    package init(connection: BusConnection, environment: [String: String]) {
        self.connection = connection
        self.environment = environment.filter { !AppLauncher.ownVariables.contains($0.key) }
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
        let text = String(decoding: notification, as: UTF8.self)
        guard entry.isDBusActivatable, AppLauncher.isBusName(appID) else {
            return completion(execute(entry, text, action, activationToken))
        }
        activate(entry, text, activationToken) { [weak self] error in
            guard let error else { return completion(.success(())) }
            guard let self, entry.exec != nil, AppLauncher.isNobodyThere(error) else {
                return completion(.failure(.failed("\(error.name): \(error.message)")))
            }
            completion(execute(entry, text, action, activationToken))
        }
    }

    // MARK: By D-Bus

    private func activate(
        _ entry: DesktopEntry, _ notification: String, _ token: String?, completion: @escaping (BusError?) -> Void
    ) {
        let platformData: [(String, BusValue)] =
            token.map { [("activation-token", .string($0)), ("desktop-startup-id", .string($0))] } ?? []
        connection.send(
            entry.id, AppLauncher.objectPath(of: entry.id), "org.freedesktop.Application", "ActivateAction",
            [
                .string(AppLauncher.actionName), .array("v", [.variant(.string(notification))]),
                .dictionary(platformData),
            ]
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

    func execute(
        _ entry: DesktopEntry, _ notification: String, _ action: ChosenAction?, _ token: String?
    ) -> Result<Void, AppOpenError> {
        guard let exec = entry.exec, let name = exec.first else {
            let path = entry.path
            return .failure(entry.hasUnreadableExec ? .unreadableExec(path: path) : .notLaunchable(path: path))
        }
        guard let program = entries.program(name) else {
            return .failure(.failed("the app is not installed or cannot be executed: \(name)"))
        }
        var variables = environment
        variables["POSTHORN_NOTIFICATION"] = notification
        variables["POSTHORN_ACTION"] = action?.id
        variables["POSTHORN_TEXT"] = action?.text
        variables["XDG_ACTIVATION_TOKEN"] = token
        variables["DESKTOP_STARTUP_ID"] = token
        let command = AppLauncher.command(program, exec, in: entry.workingDirectory)
        do {
            try children.start(command.program, command.arguments, environment: variables)
            return .success(())
        } catch {
            return .failure(.failed("\(SystemError.text(error.code)): \(command.program)"))
        }
    }

    /// `posix_spawn` cannot change the directory portably; `env --chdir` does and becomes the program.
    private static func command(
        _ program: String, _ exec: [String], in directory: String?
    ) -> (program: String, arguments: [String]) {
        guard let directory else { return (program, exec) }
        return ("/usr/bin/env", ["env", "--chdir=\(directory)", program] + exec.dropFirst())
    }

    /// What the service manager tells the agent and no app must take for its own.
    static let ownVariables: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "INVOCATION_ID",
        "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MAINPID", "MANAGERPID", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY",
        "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY",
    ]
}
