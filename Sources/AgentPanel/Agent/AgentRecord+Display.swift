// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCore

extension StatusRecord {
    /// The start of the current connection; nil while disconnected.
    var connectionStart: Timestamp? { isConnected ? connectedSince : nil }
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
