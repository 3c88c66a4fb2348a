// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxDesktop

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
