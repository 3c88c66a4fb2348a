// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// The effective settings of an app: the user's choice, or else the policy, or else the default.
package struct AppSettings: Sendable, Equatable {
    /// Whether the icon may show a badge.
    package var allowsBadge = true
    /// Whether sounds are played.
    package var allowsSound = true
    /// The style in which alerts appear.
    package var alertStyle = AlertStyle.banner
    /// The sound that the app plays.
    package var sound = SoundChoice.asSent
    /// Whether texts are readable while the screen is locked.
    package var showsPreview = false
    /// Whether time-sensitive notifications break through "do not disturb".
    package var allowsTimeSensitive = false
    /// Whether critical notifications break through "do not disturb" and are audible.
    package var allowsCritical = false
    /// The time until which the app is muted.
    package var mute = DoNotDisturb.off
    /// Whether pictures are fetched from the hosts that the app names.
    package var allowsPictures = true

    /// Creates settings with the defaults.
    package init() {}

    /// Whether nothing at all is allowed, so that the server need not send anything.
    package var refusesAll: Bool { !allowsBadge && !allowsSound && alertStyle == .none }

    /// The settings that let notifications pass "do not disturb" and that are on.
    package var quietExceptions: [Setting] {
        (allowsTimeSensitive ? [.timeSensitive] : []) + (allowsCritical ? [.critical] : [])
    }

    /// Whether alerts appear at all.
    package var allowsAlert: Bool { alertStyle != .none }
}

/// The switches for one event type of an app, within what the app is allowed.
package struct EventSwitches: Sendable, Equatable {
    /// Whether the icon may show a badge.
    package var allowsBadge = true
    /// Whether sounds are played.
    package var allowsSound = true
    /// Whether alerts appear.
    package var allowsAlert = true

    package init(allowsBadge: Bool = true, allowsSound: Bool = true, allowsAlert: Bool = true) {
        self.allowsBadge = allowsBadge
        self.allowsSound = allowsSound
        self.allowsAlert = allowsAlert
    }
}

/// The settings and states that apply to all apps at one moment.
package struct PresentationContext: Sendable, Equatable {
    /// Whether the master switch is on.
    package var isMasterOn = true
    /// Whether "do not disturb" is on, manually or by its schedule.
    package var isQuiet = false
    /// Whether the silent switch is on.
    package var isSilent = false
    /// The state of the desktop and the sound server.
    package var desktopState = DesktopState()
    /// The time at which the context holds.
    package var now = Timestamp.unixEpoch

    /// Creates a context; the defaults allow everything.
    package init(
        isMasterOn: Bool = true, isQuiet: Bool = false, isSilent: Bool = false,
        desktopState: DesktopState = DesktopState(), now: Timestamp = .unixEpoch
    ) {
        self.isMasterOn = isMasterOn
        self.isQuiet = isQuiet
        self.isSilent = isSilent
        self.desktopState = desktopState
        self.now = now
    }
}

/// The state of the user's desktop, as far as it is known.
package struct DesktopState: Sendable, Equatable {
    /// Whether the screen is locked.
    package var isLocked = false
    /// Whether the desktop's own "do not disturb" mode is on.
    package var isQuiet = false
    /// Whether the sound server's output is muted or its volume is 0.
    package var isMuted = false
    /// Whether a program records from a microphone, or a call is running.
    package var isRecording = false
    /// Whether event sounds are off in the desktop's settings.
    package var lacksEventSounds = false

    /// Creates a state; the defaults allow everything.
    package init(
        isLocked: Bool = false, isQuiet: Bool = false, isMuted: Bool = false, isRecording: Bool = false,
        lacksEventSounds: Bool = false
    ) {
        self.isLocked = isLocked
        self.isQuiet = isQuiet
        self.isMuted = isMuted
        self.isRecording = isRecording
        self.lacksEventSounds = lacksEventSounds
    }
}
