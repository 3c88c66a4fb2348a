// SPDX-License-Identifier: Apache-2.0

/// What a device reads of a payload, of which everything else is passed to the app unchanged.
///
/// A member of the wrong type counts as absent, as at Apple; so does an `aps` that is no object. Of a badge it is noted.
package struct Payload: Sendable, Equatable {
    /// The texts of an alert; at least one is there and none is empty.
    package struct Alert: Sendable, Equatable {
        package var title: String?
        package var subtitle: String?
        package var body: String?
        /// The button that opens the app.
        package var action: Action

        /// Joins the parts.
        package init(title: String? = nil, subtitle: String? = nil, body: String? = nil, action: Action = .standard) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.action = action
        }
    }

    /// The button of an alert that opens the app.
    package enum Action: Sendable, Equatable {
        /// No `action-loc-key`: the button says `View`.
        case standard
        /// The text of `action-loc-key`.
        case labelled(String)
        /// `action-loc-key` is null: there is no such button, only OK.
        case none

        /// The button's label; nil when there is no such button.
        package var label: String? {
            switch self {
            case .standard: "View"
            case .labelled(let label): label
            case .none: nil
            }
        }
    }

    /// What is heard.
    package struct Sound: Sendable, Equatable {
        /// The name of a sound of the app; nil for the person's standard sound.
        package var name: String?
        /// Whether the provider asks to be heard when sounds are off.
        package var isCritical: Bool
        /// From 0, silent, to 1; nil for the person's own volume.
        package var volume: Double?

        /// Joins the parts.
        package init(name: String? = nil, isCritical: Bool = false, volume: Double? = nil) {
            self.name = name
            self.isCritical = isCritical
            self.volume = volume
        }

        /// The standard sound.
        package static let standard = Sound()
    }

    /// How much an alert may interrupt.
    package enum InterruptionLevel: String, Sendable, CaseIterable {
        case passive, active, critical
        case timeSensitive = "time-sensitive"
    }

    /// What to show; nil for nothing.
    package var alert: Alert?
    /// The number on the app's icon, 0 for none; nil to leave it as it is.
    package var badge: UInt32?
    /// Whether there is a badge that is no whole number from 0 to 4,294,967,295: it changes nothing, and a person is told.
    package var hasUnreadableBadge: Bool
    /// What is to be heard; nil for silence.
    package var sound: Sound?
    /// The kind of event, by which a person may set what is shown.
    package var category: String?
    /// What groups alerts.
    package var threadID: String?
    /// `content-available`: the app is to fetch something in the background.
    package var isContentAvailable: Bool
    /// `mutable-content`: the app may change what is shown.
    package var isMutable: Bool
    /// How much the alert may interrupt; active when the provider does not say.
    package var interruptionLevel: InterruptionLevel

    /// Whether there is anything to see or to hear, or was meant to be.
    package var isPresentable: Bool { alert != nil || badge != nil || hasUnreadableBadge || sound != nil }

    /// The label of the button that opens the app; nil when the alert has a single OK.
    package var actionLabel: String? { (alert?.action ?? .standard).label }

    /// Joins the parts.
    package init(
        alert: Alert? = nil, badge: UInt32? = nil, hasUnreadableBadge: Bool = false, sound: Sound? = nil,
        category: String? = nil, threadID: String? = nil, isContentAvailable: Bool = false, isMutable: Bool = false,
        interruptionLevel: InterruptionLevel = .active
    ) {
        self.alert = alert
        self.badge = badge
        self.hasUnreadableBadge = hasUnreadableBadge
        self.sound = sound
        self.category = category
        self.threadID = threadID
        self.isContentAvailable = isContentAvailable
        self.isMutable = isMutable
        self.interruptionLevel = interruptionLevel
    }
}
