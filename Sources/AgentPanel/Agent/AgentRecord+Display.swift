// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

extension StatusRecord {
    /// The start of the current connection in UNIX seconds; nil while disconnected.
    var connectionStartUnixSeconds: Int64? {
        isConnected && connectedSinceUnixSeconds > 0 ? connectedSinceUnixSeconds : nil
    }

    /// The time of the last connection in UNIX seconds; nil if there was none.
    var lastConnectionUnixSeconds: Int64? { lastConnectedUnixSeconds > 0 ? lastConnectedUnixSeconds : nil }
}

extension AppRecord {
    /// The app's name; its app ID if the app has no name.
    var appTitle: String { name.isEmpty ? appID : name }
}

extension AlertRecord {
    /// The app's name; its app ID if the app has no name.
    var appTitle: String { appName.isEmpty ? appID : appName }
}

extension SoundRecord {
    /// Whether the app installed the sound.
    var isOfApp: Bool { origin == "app" }
}
