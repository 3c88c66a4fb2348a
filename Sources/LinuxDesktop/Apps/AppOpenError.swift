// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The reason why an app or a link could not be opened.
package enum AppOpenError: Error, Sendable, Equatable {
    /// There is no `APPID.desktop` in the XDG data directories.
    case noDesktopFile(appID: AppID)
    /// The file has neither `DBusActivatable` nor `Exec`.
    case notLaunchable(path: String)
    /// The file has `Terminal=true`, and no program here opens a terminal around another.
    case needsTerminal(path: String)
    /// The file's `Path` is not a directory.
    case noDirectory(String, path: String)
    /// The file's `Exec` breaks the quoting rules.
    case unreadableExec(path: String)
    /// The program that `Exec` names does not exist or is not executable.
    case noProgram(String)
    /// No program opened the link, for this reason.
    case linkNotOpened(String)
    /// The program could not be started, or the D-Bus call failed.
    case failed(String)
}
