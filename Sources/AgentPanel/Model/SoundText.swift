// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Sounds in words.
package enum SoundText {
    /// What the setting `sound-name` says, for a row.
    package static func title(_ value: String) -> String {
        switch SoundChoice(value) {
        case .asSent: tr("As Sent")
        case SoundChoice.none?: tr("None")
        case .named(let name): words(name)
        case nil: value
        }
    }

    /// A choice in the list of sounds.
    package struct Choice: Equatable, Sendable {
        /// The setting's value.
        package var value: String
        /// What is in the list.
        package var title: String
    }

    /// What can be chosen: None, what each notification names, the built-in sounds, the app's own.
    package static func choices(_ sounds: [SoundFacts]) -> [Choice] {
        let fixed = ["none", "as-sent"].map { Choice(value: $0, title: title($0)) }
        let ordered = sounds.filter { !$0.isOfApp } + sounds.filter(\.isOfApp)
        return fixed + ordered.map { Choice(value: $0.name, title: words($0.name)) }
    }

    /// A name as people write it: `door-bell` is Door Bell.
    private static func words(_ name: String) -> String {
        name.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
    }
}
