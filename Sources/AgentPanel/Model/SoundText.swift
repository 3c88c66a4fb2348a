// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushAPI

/// Texts about sounds.
enum SoundText {
    /// Returns the value of the setting `sound-name` as a text for a row.
    static func title(_ value: String) -> String {
        switch SoundChoice(value) {
        case .asSent: tr("As Sent")
        case SoundChoice.none?: tr("No Sound")
        case .named(let name): words(name)
        case nil: value
        }
    }

    /// A choice in the list of sounds.
    struct Choice: Equatable, Sendable {
        /// The value of the setting.
        var value: String
        /// The title in the list.
        var title: String
    }

    /// Returns the choices: No Sound, As Sent, the built-in sounds, and the app's own sounds.
    static func choices(_ sounds: [SoundRecord]) -> [Choice] {
        let fixed = ["none", "as-sent"].map { Choice(value: $0, title: title($0)) }
        let ordered = sounds.filter { !$0.isOfApp } + sounds.filter(\.isOfApp)
        return fixed + ordered.map { Choice(value: $0.name, title: words($0.name)) }
    }

    /// Converts a sound's name to words: `door-bell` becomes Door Bell.
    private static func words(_ name: String) -> String {
        name.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
    }
}
