// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// A sound by name, never by path.
package enum Sound: Sendable, Equatable {
    /// The desktop's alert sound, which the user chose.
    case standard
    /// A name that matches `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    ///
    /// The agent searches the app's folder, then the sound theme.
    case named(String)
}

extension Sound {
    /// Creates a sound from the user's choice, which takes precedence over the sound that the notification names.
    init(_ sound: Payload.Sound, _ choice: SoundChoice) {
        switch choice {
        case .named(let name): self = .named(name)
        case .asSent, .none: self = sound.name.map(Sound.named) ?? .standard
        }
    }
}
