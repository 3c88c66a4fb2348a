// SPDX-License-Identifier: Apache-2.0

/// What the notification server on the bus is and can do: asked, never assumed.
///
/// - SeeAlso: Desktop Notifications Specification 1.3, section "Protocol".
struct NotificationServer: Equatable {
    /// As `GetServerInformation` says.
    var name: String
    /// As `GetCapabilities` says; may change while the server runs.
    var capabilities: Set<String>

    /// Whether `& < >` and `<b>` in the body are markup.
    var hasMarkup: Bool { capabilities.contains("body-markup") }
    /// Whether there is a body at all.
    var hasBody: Bool { capabilities.contains("body") }
    /// Whether buttons or clicks come back to us.
    var hasActions: Bool { capabilities.contains("actions") }
    /// Whether it keeps a list of what came, in groups of its own.
    var keepsList: Bool { capabilities.contains("persistence") && !quirks.contains(.saysListButKeepsNone) }
    /// Whether a person can type into the alert: KDE and swaync.
    var hasReplies: Bool { hasActions && capabilities.contains("inline-reply") }
    /// Whether it plays the sound that we name.
    var playsSounds: Bool { capabilities.contains("sound") && !quirks.contains(.saysSoundButPlaysNone) }

    /// How this server differs from what the specification lets one expect.
    var quirks: Quirks { NotificationServer.quirks[name.lowercased()] ?? [] }

    /// Ways in which servers differ.
    struct Quirks: OptionSet {
        let rawValue: UInt8
        /// The action `default` is one more button instead of a click on the text.
        static let showsDefaultAsButton = Quirks(rawValue: 1)
        /// The capabilities change while it runs: `actions` go while do-not-disturb is on.
        static let changesCapabilities = Quirks(rawValue: 2)
        /// It has the capability `sound` and plays none.
        static let saysSoundButPlaysNone = Quirks(rawValue: 4)
        /// When who sent alerts leaves the bus, it takes them off the screen, or keeps them and tells nobody of clicks on
        /// them: they go to the sender only.
        static let forgetsSender = Quirks(rawValue: 8)
        /// It has the capability `persistence`, and one window behind which the next alerts wait.
        static let saysListButKeepsNone = Quirks(rawValue: 16)
        /// It finds few icons by their names.
        static let findsFewIcons = Quirks(rawValue: 32)
        /// It crashes when both a number and a tag name the alert that is replaced (mako 1.7.1).
        static let diesOfNumberAndTag = Quirks(rawValue: 64)
    }

    /// The one place where servers are told apart; by the name in lower case.
    private static let quirks: [String: Quirks] = [
        "xfce notify daemon": [.showsDefaultAsButton, .changesCapabilities],
        // MATE's has this name, too: it is told to be silent.
        "notification daemon": [.saysSoundButPlaysNone, .saysListButKeepsNone],
        "dunst": [.findsFewIcons, .forgetsSender],
        "mako": [.findsFewIcons, .diesOfNumberAndTag],
        "cinnamon": [.saysSoundButPlaysNone],
        "cosmic-notifications": [.saysSoundButPlaysNone],
        "gnome-shell": [.forgetsSender],
    ]
}
