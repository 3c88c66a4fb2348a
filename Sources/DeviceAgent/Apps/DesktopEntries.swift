// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// Finds .desktop files in the XDG data directories; each look-up reads the disk, so that new apps are seen.
package struct DesktopEntries: Sendable {
    private let folders: [String]
    private let locale: DesktopLocale
    private let programFolders: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `HOME`, `PATH` and the language.
    package init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.map { "\($0)/applications" }
        locale = DesktopLocale(environment: environment)
        programFolders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(String.init)
    }

    /// The app with this id.
    ///
    /// The first file in the order of the directories decides, also when it says that the app is hidden. A file in a
    /// folder below `applications` has the folder's name and a dash in front of its own; one such folder is looked into.
    ///
    /// - Parameter appID: The file's name without `.desktop`.
    /// - Returns: nil when the id is malformed or there is no such app.
    package func find(_ appID: String) -> DesktopEntry? {
        guard DesktopEntry.isValidID(appID) else { return nil }
        for folder in folders {
            for name in DesktopEntries.fileNames(of: appID) {
                let path = "\(folder)/\(name).desktop"
                // A pipe would hold the agent until somebody writes into it.
                guard DesktopEntries.isRegularFile(path) else { continue }
                guard let text = try? PrivateFile.read(path, byteCountMax: DesktopFile.byteCountMax) else { continue }
                return entry(DesktopFile(text), appID, path)
            }
        }
        return nil
    }

    /// The full path of a program, by `PATH` when it is a bare name; nil when it cannot be executed.
    func program(_ name: String) -> String? {
        if name.utf8.contains(UInt8(ascii: "/")) {
            return name.utf8.first == UInt8(ascii: "/") && DesktopEntries.isExecutable(name) ? name : nil
        }
        return programFolders.lazy.map { "\($0)/\(name)" }.first(where: DesktopEntries.isExecutable)
    }

    private func entry(_ file: DesktopFile, _ appID: String, _ path: String) -> DesktopEntry? {
        if let required = file.string("TryExec"), !required.isEmpty, program(required) == nil { return nil }
        return DesktopEntry(file, id: appID, path: path, locale: locale)
    }

    /// `a-b-c`, then `a/b-c` and `a-b/c`.
    private static func fileNames(of appID: String) -> [String] {
        let dashes = appID.indices.filter { appID[$0] == "-" }
        return [appID] + dashes.map { appID[..<$0] + "/" + appID[appID.index(after: $0)...] }.map(String.init)
    }

    private static func isExecutable(_ path: String) -> Bool {
        unsafe isRegularFile(path) && access(path, X_OK) == 0
    }

    /// Whether there is a directory, also at the end of a symbolic link.
    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is a file, also at the end of a symbolic link, as some systems install them.
    static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}

/// Where apps keep what belongs to them, by the XDG base directory specification.
struct DesktopFolders {
    /// The person's own data directory, where there is one.
    let dataHome: String?
    /// All data directories, the person's first.
    let data: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME`; relative paths in them are ignored, as the specification says.
    init(environment: [String: String]) {
        let isAbsolute: (String) -> Bool = { $0.utf8.first == UInt8(ascii: "/") }
        let home = environment["HOME"].flatMap { isAbsolute($0) ? "\($0)/.local/share" : nil }
        dataHome = environment["XDG_DATA_HOME"].flatMap { isAbsolute($0) ? $0 : nil } ?? home
        let listed = (environment["XDG_DATA_DIRS"] ?? "").split(separator: ":").map(String.init).filter(isAbsolute)
        data = (dataHome.map { [$0] } ?? []) + (listed.isEmpty ? ["/usr/local/share", "/usr/share"] : listed)
    }
}
