// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The built-in sounds: the sound theme `posthorn` in the XDG data directories.
struct BuiltInSounds: Sendable {
    private let folders: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME`.
    init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.map { "\($0)/sounds/posthorn/stereo" }
    }

    /// The sorted names of the sounds.
    var names: [String] {
        for folder in folders {
            let names = FolderListing.names(in: folder).filter { $0.hasSuffix(".oga") }.map { String($0.dropLast(4)) }
            if !names.isEmpty { return names.filter(AppSounds.isValidName).sorted() }
        }
        return []
    }

    /// Returns the file of a sound; nil for an unknown name.
    func file(_ name: String) -> String? {
        guard AppSounds.isValidName(name) else { return nil }
        return folders.map { "\($0)/\(AppSounds.themeName(name)).oga" }.first { unsafe access($0, R_OK) == 0 }
    }
}

/// Lists directories, without an error for those that cannot be read.
enum FolderListing {
    /// Returns the names of files and directories except hidden ones; empty if the directory cannot be read.
    static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names
    }
}
