// SPDX-License-Identifier: Apache-2.0

/// The name and capabilities of the notification server on the bus; they are queried, never assumed.
///
/// - SeeAlso: Desktop Notifications Specification 1.3, section "Protocol".
package struct NotificationServer: Equatable {
    /// The name of the service on the session bus; it is also the name of its interface.
    package static let busName = "org.freedesktop.Notifications"
    /// The path of the service's object.
    package static let path = "/org/freedesktop/Notifications"

    /// The name from `GetServerInformation`.
    package var name: String
    /// The answer of `GetCapabilities`; it may change while the server runs.
    package var capabilities: Set<String>

    /// Creates a server from its answers.
    package init(name: String, capabilities: Set<String>) {
        self.name = name
        self.capabilities = capabilities
    }

    /// Whether the body is parsed as markup, with `& < >` and `<b>`.
    package var hasMarkup: Bool { capabilities.contains("body-markup") }
    /// Whether alerts have a body.
    package var hasBody: Bool { capabilities.contains("body") }
    /// Whether the server shows the picture of an alert.
    package var hasPictures: Bool { !capabilities.isDisjoint(with: ["body-images", "icon-static", "icon-multi"]) }
    /// Whether the server supports buttons and reports clicks.
    package var hasActions: Bool { capabilities.contains("actions") }
    /// Whether the server keeps a list of past alerts, which it groups.
    package var keepsList: Bool {
        capabilities.contains("persistence") && !quirks.contains(.declaresPersistenceWithoutList)
    }
    /// Whether the user can type a reply into the alert: KDE and swaync.
    package var hasReplies: Bool { hasActions && capabilities.contains("inline-reply") }
    /// Whether the server plays the sound that the agent names.
    package var playsSounds: Bool { capabilities.contains("sound") && !quirks.contains(.declaresSoundWithoutPlaying) }

    /// The server's deviations from the specification.
    package var quirks: Quirks { NotificationServer.quirks[name.lowercased()] ?? [] }

    /// Deviations of servers from the specification.
    package struct Quirks: OptionSet {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The server shows the action `default` as a further button, not as a click on the text.
        package static let showsDefaultAsButton = Quirks(rawValue: 1)
        /// The server's capabilities change while it runs: `actions` is missing while do-not-disturb is on.
        package static let changesCapabilities = Quirks(rawValue: 2)
        /// The server declares `sound`, but plays no sounds.
        package static let declaresSoundWithoutPlaying = Quirks(rawValue: 4)
        /// The server forgets the alerts of a sender that leaves the bus.
        ///
        /// It removes them from the screen, or keeps them but sends their clicks to the old sender, which no longer
        /// exists.
        package static let forgetsSender = Quirks(rawValue: 8)
        /// The server declares `persistence`, but shows one window at a time and keeps no list.
        package static let declaresPersistenceWithoutList = Quirks(rawValue: 16)
        /// The server finds few icons by name.
        package static let findsFewIcons = Quirks(rawValue: 32)
        /// The server crashes when both an ID and a tag name the replaced alert (mako 1.7.1).
        package static let crashesOnIDAndTag = Quirks(rawValue: 64)
    }

    /// The deviations by server name in lower case; no other code distinguishes servers.
    private static let quirks: [String: Quirks] = [
        "xfce notify daemon": [.showsDefaultAsButton, .changesCapabilities],
        // MATE's daemon has the same name; it could play sounds, but is told not to.
        "notification daemon": [.declaresSoundWithoutPlaying, .declaresPersistenceWithoutList],
        "dunst": [.findsFewIcons, .forgetsSender],
        "mako": [.findsFewIcons, .crashesOnIDAndTag],
        "cinnamon": [.declaresSoundWithoutPlaying],
        "cosmic-notifications": [.declaresSoundWithoutPlaying],
        "gnome-shell": [.forgetsSender],
    ]
}
