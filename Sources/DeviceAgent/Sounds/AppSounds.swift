// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxDesktop
internal import PushCore

/// The sound files of apps: `$XDG_DATA_HOME/posthorn/sounds/APPID/NAME.{oga,ogg,wav}`.
///
/// Names come from payloads. They select a file in the app's directory and can reach nothing outside it.
struct AppSounds {
    /// The maximum size of a sound file in bytes.
    static let fileByteCountMax = 5 << 20
    /// The sound theme's name of the user's alert sound.
    static let standardThemeName = "message-new-instant"
    private static let extensions = ["oga", "ogg", "wav"]

    private let folder: String?

    /// Reads `XDG_DATA_HOME` and `HOME`.
    init(environment: [String: String]) {
        folder = DesktopFolders(environment: environment).dataHome.map { "\($0)/posthorn/sounds" }
    }

    /// Returns the file for a name; nil if the app has none that may be played.
    ///
    /// - Parameters:
    ///   - name: The name, with or without an extension. A foreign extension is ignored: `chime.caf` finds `chime.oga`.
    ///   - appID: The app whose directory is searched; nil for none.
    /// - Returns: The path of a regular file. Neither the file nor its directory is a symbolic link.
    func file(_ name: String, appID: AppID?) -> String? {
        guard let folder, let appID, AppSounds.isValidName(name), DesktopEntry.isValidID(appID.text) else { return nil }
        guard let real = AppSounds.realPath(folder), AppSounds.realPath("\(folder)/\(appID)") == "\(real)/\(appID)"
        else { return nil }
        return AppSounds.fileNames(of: name).map { "\(real)/\(appID)/\($0)" }.first(where: AppSounds.isPlayable)
    }

    /// Returns the name without its extension, as sound themes use it.
    static func themeName(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Returns whether a name is `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` without `..`.
    static func isValidName(_ name: String) -> Bool { name.utf8.count <= 64 && DesktopEntry.isValidID(name) }

    private static func fileNames(of name: String) -> [String] {
        let stem = themeName(name)
        let isOurs = extensions.contains { name == "\(stem).\($0)" }
        let stems = stem == name ? [name] : [name, stem]
        return (isOurs ? [name] : []) + stems.flatMap { stem in extensions.map { "\(stem).\($0)" } }
    }

    private static func isPlayable(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_size > 0 && status.st_size <= fileByteCountMax
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
