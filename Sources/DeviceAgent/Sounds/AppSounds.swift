// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The sound files that apps brought along: `$XDG_DATA_HOME/posthorn/sounds/APPID/NAME.{oga,ogg,wav}`.
///
/// Names come from payloads: they choose among the files of the app's folder, and nothing else can be reached.
struct AppSounds {
    /// The largest file that is played, in bytes.
    static let fileByteCountMax = 5 << 20
    private static let extensions = ["oga", "ogg", "wav"]

    private let folder: String?

    /// Reads `XDG_DATA_HOME` and `HOME`.
    init(environment: [String: String]) {
        folder = DesktopFolders(environment: environment).dataHome.map { "\($0)/posthorn/sounds" }
    }

    /// The file for a name; nil when the app brought none, or none that may be played.
    ///
    /// - Parameters:
    ///   - name: With or without extension; a foreign one, as in `chime.caf`, finds `chime.oga`.
    ///   - appID: The app.
    /// - Returns: The path of a regular file that is no symbolic link, in a folder that is none.
    func file(_ name: String, appID: String) -> String? {
        guard let folder, AppSounds.isValidName(name), DesktopEntry.isValidID(appID) else { return nil }
        guard let real = AppSounds.realPath(folder), AppSounds.realPath("\(folder)/\(appID)") == "\(real)/\(appID)"
        else { return nil }
        return AppSounds.fileNames(of: name).map { "\(real)/\(appID)/\($0)" }.first(where: AppSounds.isPlayable)
    }

    /// The name that the sound theme may know: without extension.
    static func themeName(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Whether a name is `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` without `..`.
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
