// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What a person allows one app.
package struct AppSwitches: Sendable, Equatable {
    /// Numbers on its icon.
    package var allowsBadge: Bool
    /// Sounds.
    package var allowsSound: Bool
    /// Alerts on the screen.
    package var allowsAlert: Bool

    /// Joins the three.
    package init(allowsBadge: Bool, allowsSound: Bool, allowsAlert: Bool) {
        self.allowsBadge = allowsBadge
        self.allowsSound = allowsSound
        self.allowsAlert = allowsAlert
    }

    /// What a newly registered app may do.
    package static let all = AppSwitches(allowsBadge: true, allowsSound: true, allowsAlert: true)

    /// Whether nothing at all is allowed, so that the server need not send.
    package var refusesAll: Bool { !allowsBadge && !allowsSound && !allowsAlert }
}

/// Why a notification was not shown; the raw values are in the inbox and go to the server.
package enum SuppressionReason: String, Sendable, CaseIterable {
    /// The master switch is off.
    case masterOff = "master-off"
    /// No app is registered here for its topic.
    case unknownApp = "unknown-app"
    /// The person switched off everything that it has.
    case switchedOff = "switched-off"
    /// There is nothing in it to show: a background notification.
    case nothingToShow = "nothing-to-show"
    /// A newer one with the same collapse id came before it could be shown.
    case replaced
    /// Too many came at once; it is in the inbox only.
    case tooMany = "too-many"
    /// The person cleared it before it could be shown.
    case cleared
    /// The payload cannot be read.
    case unreadable
    /// It is a broadcast of a channel that the app does not listen to any more.
    case unsubscribed
}

/// What to do about a notification: settings and payload in, orders out, nothing else known.
///
/// Nothing in a payload overrides a person's choice.
package struct Decision: Sendable, Equatable {
    /// The number to put on the app's icon; nil leaves it alone.
    package var badge: UInt32?
    /// The sound to play.
    package var sound: Sound?
    /// Whether to show an alert.
    package var showsAlert = false
    /// Why nothing at all happens; nil when something does.
    package var suppression: SuppressionReason?

    /// Decides.
    ///
    /// - Parameters:
    ///   - payload: What the provider sent.
    ///   - switches: What the person allows the app; nil when no app is registered for the topic.
    ///   - isMasterOn: The master switch.
    package init(_ payload: Payload, switches: AppSwitches?, isMasterOn: Bool) {
        suppression = Self.obstacle(payload, switches: switches, isMasterOn: isMasterOn)
        guard suppression == nil, let switches else { return }
        if switches.allowsBadge { badge = payload.badge }
        if switches.allowsSound { sound = payload.sound.map(Sound.init) }
        showsAlert = switches.allowsAlert && payload.alert != nil
        if badge == nil && sound == nil && !showsAlert { suppression = .switchedOff }
    }

    /// What keeps everything away, whatever the switches say.
    private static func obstacle(
        _ payload: Payload, switches: AppSwitches?, isMasterOn: Bool
    ) -> SuppressionReason? {
        guard switches != nil else { return .unknownApp }
        guard payload.isPresentable else { return .nothingToShow }
        return isMasterOn ? nil : .masterOff
    }

    /// Whether something must be presented at a moment; a badge is not: it is written with the inbox entry.
    package var needsPresentation: Bool { showsAlert || sound != nil }
}

extension Sound {
    fileprivate init(_ sound: Payload.Sound) {
        self = sound.name.map(Sound.named) ?? .standard
    }
}
