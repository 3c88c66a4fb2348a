// SPDX-License-Identifier: Apache-2.0

/// The part of a payload that a device interprets; the device passes the rest to the app unchanged.
///
/// A member of the wrong type counts as absent, as in Apple's service. The same holds for an `aps` that is not an
/// object. For a badge of the wrong type, `hasUnreadableBadge` is set.
package struct Payload: Sendable, Equatable {
    /// The texts of an alert; at least one is present and none is empty.
    package struct Alert: Sendable, Equatable {
        package var title: String?
        package var subtitle: String?
        package var body: String?
        package var action: Action

        package init(title: String? = nil, subtitle: String? = nil, body: String? = nil, action: Action = .standard) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.action = action
        }
    }

    /// The button of an alert that opens the app.
    package enum Action: Sendable, Equatable {
        /// There is no `action-loc-key`, so the button has the label `View`.
        case standard
        /// The button has the text of `action-loc-key`.
        case labelled(String)
        /// `action-loc-key` is null, so there is no such button, only OK.
        case none

        /// The button's label; nil if there is no such button.
        package var label: String? {
            switch self {
            case .standard: "View"
            case .labelled(let label): label
            case .none: nil
            }
        }
    }

    /// The sound of a notification.
    package struct Sound: Sendable, Equatable {
        /// The name of a sound of the app; nil for the user's default sound.
        package var name: String?
        /// Whether the provider requests that the sound plays even when sounds are off.
        package var isCritical: Bool
        /// The volume from 0, silent, to 1; nil for the user's own volume.
        package var volume: Double?

        package init(name: String? = nil, isCritical: Bool = false, volume: Double? = nil) {
            self.name = name
            self.isCritical = isCritical
            self.volume = volume
        }

        /// The default sound.
        package static let standard = Sound()
    }

    /// The interruption level of an alert.
    package enum InterruptionLevel: String, Sendable, CaseIterable {
        case passive, active, critical
        case timeSensitive = "time-sensitive"
    }

    /// The reason why a path of a picture is not accepted, as a phrase that follows `attachment-path` and a colon.
    package enum PicturePathDefect: String, Sendable, CaseIterable {
        case sent = "only the app's filter can name a file"
        case notAbsolute = "it is not an absolute path"
    }

    /// The alert to show; nil for none.
    package var alert: Alert?
    /// The number on the app's icon; 0 removes it, and nil leaves it unchanged.
    package var badge: UInt32?
    /// Whether the payload has a badge that is not an integer from 0 to 4,294,967,295.
    ///
    /// Such a badge changes nothing; the inbox entry records `badge:bad-badge`.
    package var hasUnreadableBadge: Bool
    /// The sound to play; nil for silence.
    package var sound: Sound?
    /// The event type, by which the user can choose what is shown.
    package var category: String?
    /// The ID that groups alerts.
    package var threadID: String?
    /// The value of `content-available`: the app should fetch data in the background.
    package var isContentAvailable: Bool
    /// The value of `mutable-content`: the app may modify what is shown.
    package var isMutable: Bool
    /// The interruption level of the alert; `active` when the provider sends none.
    package var interruptionLevel: InterruptionLevel

    /// The address in `url`, beside `aps`; nil for none and for one that is not accepted.
    package var link: NotificationLink?
    /// The reason why the address in `url` is refused; nil for an accepted or a missing address.
    package var linkDefect: NotificationLink.Defect?

    /// The https address in `attachment-url`, beside `aps`; nil for none and for one that is not accepted.
    package var picture: NotificationLink?
    /// The reason why the address in `attachment-url` is refused; nil for an accepted or a missing address.
    package var pictureDefect: NotificationLink.Defect?

    /// The absolute path in `attachment-path`, beside `aps`; nil for none and for one that is not accepted.
    package var picturePath: String?
    /// The reason why the path in `attachment-path` is refused; nil for an accepted or a missing path.
    package var picturePathDefect: PicturePathDefect?

    /// The buttons that the notification brings with it, in order.
    package var buttons: [Button] = []
    /// Whether a button is not accepted.
    package var lacksButtons = false

    /// Whether the payload contains something to show or play, or was meant to.
    package var isPresentable: Bool { alert != nil || badge != nil || hasUnreadableBadge || sound != nil }

    /// The members of the payload that are ignored, each with a colon and the reason, one per line.
    package var ignoredMembers: String {
        [
            linkDefect.map { "url: \($0.phrase)" }, pictureDefect.map { "attachment-url: \($0.phrase)" },
            picturePathDefect.map { "attachment-path: \($0.rawValue)" },
            lacksButtons ? "\(Self.buttonsKey): a button needs a title and an https address; at most 3 are shown" : nil,
        ].compactMap(\.self).joined(separator: "\n")
    }

    /// The label of the button that opens the app; nil if the alert has only OK.
    package var actionLabel: String? { (alert?.action ?? .standard).label }

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
