// SPDX-License-Identifier: Apache-2.0

/// Opens apps for View and for their buttons, and calls them in the background.
package protocol AppOpener: AnyObject {
    /// Opens the app once and hands it the notification.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: A JSON object.
    ///   - action: The button of the app that was chosen; nil for View.
    ///   - activationToken: Lets the app's window come to the front.
    ///   - completion: Called once, with what went wrong for the inbox.
    func open(
        appID: String, notification: [UInt8], action: ChosenAction?, activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Opens the app without a notification, as its icon in a menu does.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - activationToken: Lets the app's window come to the front.
    ///   - completion: Called once, with what went wrong for the inbox.
    func launch(appID: String, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Tells the app, which opens nothing, that the person chose a button.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: A JSON object.
    ///   - action: The button.
    ///   - completion: Called once, with what went wrong for the inbox.
    func act(
        appID: String, notification: [UInt8], action: ChosenAction,
        completion: @escaping (Result<Void, AppOpenError>) -> Void)

    /// Lets the app fetch something, without a window.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: A JSON object.
    ///   - completion: Called once, when the app is done or its time is over.
    func wake(appID: String, notification: [UInt8], completion: @escaping (Result<Void, AppOpenError>) -> Void)
}

/// A button of an app, as the person chose it.
package struct ChosenAction: Sendable, Equatable {
    /// Its id in the manifest.
    package var id: String
    /// What the person typed; nil for nothing.
    package var text: String?

    /// Joins the two.
    package init(id: String, text: String? = nil) {
        self.id = id
        self.text = text
    }
}

/// Why an app could not be opened, with what to do.
package enum AppOpenError: Error, Sendable, Equatable {
    /// No `APPID.desktop` in the XDG data directories.
    case noDesktopFile(appID: String)
    /// The file has neither DBusActivatable nor Exec.
    case notLaunchable(path: String)
    /// The file says `Terminal=true`, and nothing here opens a terminal around a program.
    case needsTerminal(path: String)
    /// The file's `Path` is no directory.
    case noDirectory(String, path: String)
    /// The file's Exec breaks the rules of quoting.
    case unreadableExec(path: String)
    /// The program that Exec names is not there, or cannot be executed.
    case noProgram(String)
    /// The program or the bus refused.
    case failed(String)
}
