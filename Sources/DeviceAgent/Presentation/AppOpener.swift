// SPDX-License-Identifier: Apache-2.0

/// Opens apps for View.
package protocol AppOpener: AnyObject {
    /// Opens the app once and hands it the notification.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - notification: A JSON object.
    ///   - activationToken: Lets the app's window come to the front.
    ///   - completion: Called once, with what went wrong for the inbox.
    func open(
        appID: String, notification: [UInt8], activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void)
}

/// Why an app could not be opened, with what to do.
package enum AppOpenError: Error, Sendable, Equatable {
    /// No `APPID.desktop` in the XDG data directories.
    case noDesktopFile(appID: String)
    /// The file has neither DBusActivatable nor Exec.
    case notLaunchable(path: String)
    /// The program or the bus refused.
    case failed(String)
}
