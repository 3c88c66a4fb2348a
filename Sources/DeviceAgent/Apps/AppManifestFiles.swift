// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushCore
internal import PushNet

/// The manifests that apps install: `posthorn/apps/APPID.json` in the XDG data directories, the user's first.
struct AppManifestFiles: Sendable {
    private let folders: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME`.
    init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.map { "\($0)/posthorn/apps" }
    }

    /// Returns the manifest of an app; nil if the app installed none or it cannot be read.
    func find(_ appID: AppID) -> [UInt8]? {
        guard DesktopEntry.isValidID(appID.text) else { return nil }
        for folder in folders {
            let path = "\(folder)/\(appID).json"
            guard DesktopEntries.isRegularFile(path) else { continue }
            return try? PrivateFile.read(path, byteCountMax: AppManifest.byteCountMax)
        }
        return nil
    }
}
