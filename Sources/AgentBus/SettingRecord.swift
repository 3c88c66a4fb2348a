// SPDX-License-Identifier: Apache-2.0

package import PushDBus

/// A setting, as `ListSettings` returns it.
package struct SettingRecord: AgentRecord, Sendable, Equatable {
    /// The event type; empty for the app as a whole.
    package var event = ""
    /// The name, as listed in docs/reference/settings.md.
    package var name = ""
    /// The effective value.
    package var value = ""
    /// Whether the administrator locked the setting.
    package var isLocked = false
    /// The origin of the value: `standard`, `person` or `administrator`.
    package var origin = ""

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        event = dictionary.text("event")
        name = dictionary.text("name")
        value = dictionary.text("value")
        isLocked = dictionary.flag("locked")
        origin = dictionary.text("origin")
    }

    package var entries: [(String, BusValue)] {
        [
            ("event", .entry(event)),
            ("name", .entry(name)),
            ("value", .entry(value)),
            ("locked", .entry(isLocked)),
            ("origin", .entry(origin)),
        ]
    }
}

/// A sound that an app can name, as `ListSounds` returns it.
package struct SoundRecord: AgentRecord, Sendable, Equatable {
    /// The name of the sound.
    package var name = ""
    /// The origin of the sound: `app` or `built-in`.
    package var origin = ""

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        name = dictionary.text("name")
        origin = dictionary.text("origin")
    }

    package var entries: [(String, BusValue)] {
        [
            ("name", .entry(name)),
            ("origin", .entry(origin)),
        ]
    }
}
