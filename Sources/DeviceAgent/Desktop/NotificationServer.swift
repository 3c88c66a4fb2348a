// SPDX-License-Identifier: Apache-2.0

/// The name and capabilities of the notification server on the bus; they are queried, never assumed.
///
/// - SeeAlso: Desktop Notifications Specification 1.3, section "Protocol".
struct NotificationServer: Equatable {
    /// The name from `GetServerInformation`.
    var name: String
    /// The answer of `GetCapabilities`; it may change while the server runs.
    var capabilities: Set<String>

    /// Whether the body is parsed as markup, with `& < >` and `<b>`.
    var hasMarkup: Bool { capabilities.contains("body-markup") }
    /// Whether alerts have a body.
    var hasBody: Bool { capabilities.contains("body") }
    /// Whether the server supports buttons and reports clicks.
    var hasActions: Bool { capabilities.contains("actions") }
    /// Whether the server keeps a list of past alerts, which it groups.
    var keepsList: Bool { capabilities.contains("persistence") && !quirks.contains(.saysListButKeepsNone) }
    /// Whether the user can type a reply into the alert: KDE and swaync.
    var hasReplies: Bool { hasActions && capabilities.contains("inline-reply") }
    /// Whether the server plays the sound that the agent names.
    var playsSounds: Bool { capabilities.contains("sound") && !quirks.contains(.saysSoundButPlaysNone) }

    /// The server's deviations from the specification.
    var quirks: Quirks { NotificationServer.quirks[name.lowercased()] ?? [] }

    /// Deviations of servers from the specification.
    struct Quirks: OptionSet {
        let rawValue: UInt8
        /// The server shows the action `default` as a further button, not as a click on the text.
        static let showsDefaultAsButton = Quirks(rawValue: 1)
        /// The server's capabilities change while it runs: `actions` is missing while do-not-disturb is on.
        static let changesCapabilities = Quirks(rawValue: 2)
        /// The server has the capability `sound`, but plays no sounds.
        static let saysSoundButPlaysNone = Quirks(rawValue: 4)
        /// The server forgets the alerts of a sender that leaves the bus.
        ///
        /// It removes them from the screen, or keeps them but sends their clicks to the old sender, which no longer
        /// exists.
        static let forgetsSender = Quirks(rawValue: 8)
        /// The server has the capability `persistence`, but one window for which later alerts wait.
        static let saysListButKeepsNone = Quirks(rawValue: 16)
        /// The server finds few icons by name.
        static let findsFewIcons = Quirks(rawValue: 32)
        /// The server crashes when both an ID and a tag name the replaced alert (mako 1.7.1).
        static let diesOfNumberAndTag = Quirks(rawValue: 64)
    }

    /// The deviations by server name in lower case; no other code distinguishes servers.
    private static let quirks: [String: Quirks] = [
        "xfce notify daemon": [.showsDefaultAsButton, .changesCapabilities],
        // MATE's daemon has the same name; it could play sounds, but is told not to.
        "notification daemon": [.saysSoundButPlaysNone, .saysListButKeepsNone],
        "dunst": [.findsFewIcons, .forgetsSender],
        "mako": [.findsFewIcons, .diesOfNumberAndTag],
        "cinnamon": [.saysSoundButPlaysNone],
        "cosmic-notifications": [.saysSoundButPlaysNone],
        "gnome-shell": [.forgetsSender],
    ]
}
