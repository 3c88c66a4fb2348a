// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushAPI
internal import PushCore

/// Texts about an app.
enum AppText {
    /// Returns what is enabled, for the app's row in the settings: `Badges, Sounds, Banners`; or that it is muted.
    static func subtitle(_ app: AppRecord, now: Timestamp) -> String {
        if let mute = MuteText.state(app, now: now) { return mute }
        return list(
            badge: app.allowsBadge, sound: app.allowsSound,
            alert: app.alertStyle == AlertStyle.none.rawValue ? nil : style(app.alertStyle))
    }

    /// Returns what is enabled for an event type.
    static func subtitle(badge: Bool, sound: Bool, alert: Bool) -> String {
        list(badge: badge, sound: sound, alert: alert ? tr("Alerts") : nil)
    }

    private static func list(badge: Bool, sound: Bool, alert: String?) -> String {
        let parts = [badge ? tr("Badges") : nil, sound ? tr("Sounds") : nil, alert].compactMap { $0 }
        return parts.isEmpty ? tr("Off") : parts.joined(separator: tr(", "))
    }

    /// Returns the name of an alert style.
    static func style(_ value: String) -> String {
        switch AlertStyle(value) {
        case .banner: tr("Banners")
        case .alert: tr("Alerts")
        case AlertStyle.none?, nil: tr("None")
        }
    }

    /// Returns the accessible name of an app's icon: `Mail, 3 new items`.
    static func iconName(_ app: AppRecord) -> String {
        guard app.badge > 0 else { return app.appTitle }
        let count = Texts.text("%d new item", "%d new items", count: Int(clamping: app.badge))
        return "\(app.appTitle)\(tr(", "))\(count)"
    }
}

/// Texts of badges.
enum BadgeText {
    /// Returns all digits of the badge on an app's icon; nil for no badge.
    static func icon(_ badge: UInt32) -> String? { badge > 0 ? "\(badge)" : nil }

    /// Returns whether the number is too wide for the icon at normal size, so that it needs a smaller font.
    static func isLong(_ text: String, textScale: Double) -> Bool {
        Double(text.utf8.count) * digitWidth * textScale > iconWidth
    }

    /// The width of a digit and the space on an icon, in pixels.
    private static let (digitWidth, iconWidth) = (9.0, 76.0)

    /// Returns the badge of a tab: the number of new items, an ellipsis while it is unknown, nil if there are none.
    static func tab(_ count: Int?) -> String? {
        guard let count else { return "…" }
        return count > 0 ? "\(count)" : nil
    }
}
