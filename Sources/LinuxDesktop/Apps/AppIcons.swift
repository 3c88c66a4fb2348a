// SPDX-License-Identifier: Apache-2.0

/// Finds icon files in the `hicolor` theme, to which every app installs its own.
///
/// Some notification servers do not search icon themes; they get a file.
package struct AppIcons {
    /// Icon sizes, best first; servers scale the icon down.
    private static let sizes = ["64x64", "96x96", "128x128", "48x48", "256x256", "scalable", "512x512", "32x32"]

    private let folders: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME`.
    package init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.flatMap { folder in
            AppIcons.sizes.map { "\(folder)/icons/hicolor/\($0)/apps" } + ["\(folder)/pixmaps"]
        }
    }

    /// Returns the file of an icon; nil if there is no such icon or the name is invalid.
    package func file(_ name: String) -> String? {
        guard DesktopEntry.isValidID(name) else { return nil }
        return folders.lazy.flatMap { ["\($0)/\(name).png", "\($0)/\(name).svg"] }
            .first(where: DesktopEntries.isRegularFile)
    }
}
