// SPDX-License-Identifier: Apache-2.0

internal import LinuxDesktop
internal import PushCore

/// Opens apps for View and for their buttons, and calls them in the background.
protocol AppOpener: AnyObject {
    /// Opens the app once and passes the notification to it.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: The notification as a JSON object.
    ///   - action: The button of the app that the user chose; nil for View.
    ///   - activationToken: The token that lets the app raise its window.
    ///   - completion: Called once; the inbox shows the error.
    func open(
        appID: AppID, notification: [UInt8], action: ChosenAction?, activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Opens the app without a notification, as its icon in a menu does.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - activationToken: The token that lets the app raise its window.
    ///   - completion: Called once; the caller shows the error.
    func launch(appID: AppID, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Opens a link in the program that the desktop has for its scheme.
    ///
    /// - Parameters:
    ///   - link: The link.
    ///   - activationToken: The token that lets the program raise its window.
    ///   - completion: Called once; the caller shows the error.
    func open(
        _ link: NotificationLink, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Reports the user's choice of a button to the app, which opens no window.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: The notification as a JSON object.
    ///   - action: The button.
    ///   - completion: Called once; the inbox shows the error.
    func act(
        appID: AppID, notification: [UInt8], action: ChosenAction,
        completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Lets the app fetch data in the background, without a window.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: The notification as a JSON object.
    ///   - completion: Called once, when the app has finished or its time limit has passed.
    func wake(appID: AppID, notification: [UInt8], completion: @escaping (Result<Void, AppOpenError>) -> Void)
}

/// A button of an app that the user chose.
struct ChosenAction: Sendable, Equatable {
    /// The button's ID in the manifest.
    var id: String
    /// The typed text; nil if no text was typed.
    var text: String?
}

extension AppOpenError {
    /// The kind of failure, from which clients derive the advice to the user.
    var failure: OpenFailure {
        switch self {
        case .noDesktopFile, .noProgram: .notInstalled
        case .notLaunchable, .noDirectory, .unreadableExec: .damaged
        case .needsTerminal: .needsTerminal
        case .linkNotOpened: .linkNotOpened
        case .failed: .notStarted
        }
    }

    /// One line for the inbox.
    var text: String {
        switch self {
        case .noDesktopFile(let appID): "no \(appID).desktop in the applications folders"
        case .notLaunchable(let path): "\(path) has neither Exec nor DBusActivatable"
        case .needsTerminal(let path): "the app runs in a terminal, which needs xdg-terminal-exec: \(path)"
        case .noDirectory(let directory, let path):
            "\(path) sets Path to \(directory), which is not a directory"
        case .unreadableExec(let path): "the Exec line cannot be read in \(path): check its quotes"
        case .noProgram(let name): "the app is not installed or cannot be executed: \(name)"
        case .linkNotOpened(let text): "the link was not opened: \(text)"
        case .failed(let text): text
        }
    }
}
