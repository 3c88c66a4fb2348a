// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushCore
internal import PushNet

/// Finds .desktop files in the XDG data directories.
///
/// Each look-up reads the disk, so that new apps are found.
package struct DesktopEntries: Sendable {
    private let folders: [String]
    private let locale: DesktopLocale
    private let programFolders: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `HOME`, `PATH` and the locale variables.
    package init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.map { "\($0)/applications" }
        locale = DesktopLocale(environment: environment)
        programFolders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(String.init)
    }

    /// Returns the app with an ID.
    ///
    /// The first file in the order of the directories decides, even if it marks the app as hidden. The ID of a file in
    /// a subdirectory of `applications` is the directory's name, a dash, and the file's name. One level of
    /// subdirectories is searched.
    ///
    /// - Parameter appID: The file's name without `.desktop`.
    /// - Returns: The app; nil if the ID is malformed or there is no such app.
    package func find(_ appID: AppID) -> DesktopEntry? {
        guard DesktopEntry.isValidID(appID.text) else { return nil }
        for folder in folders {
            for name in DesktopEntries.fileNames(of: appID.text) {
                let path = "\(folder)/\(name).desktop"
                // Opening a named pipe would block the agent until another process writes to it.
                guard DesktopEntries.isRegularFile(path) else { continue }
                guard let text = try? PrivateFile.read(path, byteCountMax: DesktopFile.byteCountMax) else { continue }
                return entry(DesktopFile(text), appID, path)
            }
        }
        return nil
    }

    /// Returns the absolute path of a program, with a bare name searched in `PATH`; nil if it is not executable.
    package func program(_ name: String) -> String? {
        if name.utf8.contains(UInt8(ascii: "/")) {
            return name.utf8.first == UInt8(ascii: "/") && DesktopEntries.isExecutable(name) ? name : nil
        }
        return programFolders.lazy.map { "\($0)/\(name)" }.first(where: DesktopEntries.isExecutable)
    }

    private func entry(_ file: DesktopFile, _ appID: AppID, _ path: String) -> DesktopEntry? {
        if let required = file.string("TryExec"), !required.isEmpty, program(required) == nil { return nil }
        return DesktopEntry(file, id: appID, path: path, locale: locale)
    }

    /// Returns the possible file names of an ID: for `a-b-c` these are `a-b-c`, `a/b-c` and `a-b/c`.
    private static func fileNames(of appID: String) -> [String] {
        let dashes = appID.indices.filter { appID[$0] == "-" }
        return [appID] + dashes.map { appID[..<$0] + "/" + appID[appID.index(after: $0)...] }.map(String.init)
    }

    private static func isExecutable(_ path: String) -> Bool {
        unsafe isRegularFile(path) && access(path, X_OK) == 0
    }

    /// Returns whether a path is a directory; symbolic links are followed.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns whether a path is a regular file; follows symbolic links, because some systems install files that way.
    package static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
