// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What an app may do, or one of its event types: what the person chose, or else the policy, or else what is standard.
package struct AppSettings: Sendable, Equatable {
    /// Numbers on its icon.
    package var allowsBadge = true
    /// Sounds.
    package var allowsSound = true
    /// How its alerts appear.
    package var alertStyle = AlertStyle.banner
    /// Which sound it makes.
    package var sound = SoundChoice.asSent
    /// Whether texts are readable while the screen is locked.
    package var showsPreview = false
    /// Whether time-sensitive notifications may disturb.
    package var allowsTimeSensitive = true
    /// Whether critical notifications may disturb, and are heard.
    package var allowsCritical = false

    /// What is standard.
    package init() {}

    /// Whether nothing at all is allowed, so that the server need not send.
    package var refusesAll: Bool { !allowsBadge && !allowsSound && alertStyle == .none }

    /// Whether alerts appear at all.
    package var allowsAlert: Bool { alertStyle != .none }
}

/// What a person allows one of an app's event types, within what the app is allowed.
package struct EventSwitches: Sendable, Equatable {
    /// Numbers on the icon.
    package var allowsBadge = true
    /// Sounds.
    package var allowsSound = true
    /// Alerts.
    package var allowsAlert = true

    /// All of them.
    package init(allowsBadge: Bool = true, allowsSound: Bool = true, allowsAlert: Bool = true) {
        self.allowsBadge = allowsBadge
        self.allowsSound = allowsSound
        self.allowsAlert = allowsAlert
    }
}

/// What holds for all apps at a moment.
package struct Circumstances: Sendable, Equatable {
    /// The master switch.
    package var isMasterOn = true
    /// Do-not-disturb holds, by hand or by its schedule.
    package var isQuiet = false
    /// The silent switch.
    package var isSilent = false
    /// What the desktop and the sound server say.
    package var desk = DeskState()

    /// A moment at which everything is allowed.
    package init(isMasterOn: Bool = true, isQuiet: Bool = false, isSilent: Bool = false, desk: DeskState = DeskState())
    {
        self.isMasterOn = isMasterOn
        self.isQuiet = isQuiet
        self.isSilent = isSilent
        self.desk = desk
    }
}

/// What is going on at the person's desk, as far as somebody there tells.
package struct DeskState: Sendable, Equatable {
    /// The screen is locked.
    package var isLocked = false
    /// The desktop's own do-not-disturb is on.
    package var isQuiet = false
    /// The sound server's output is muted, or its volume is 0.
    package var isMuted = false
    /// A program takes sound from a microphone, or a call goes on.
    package var isRecording = false
    /// The desktop has event sounds switched off.
    package var lacksEventSounds = false

    /// A desk at which nothing speaks against anything.
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
