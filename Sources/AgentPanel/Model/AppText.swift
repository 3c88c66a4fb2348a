// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// An app in words.
package enum AppText {
    /// What is on, for the app's row in the settings: `Badges, Sounds, Banners`.
    package static func subtitle(_ app: AppFacts) -> String {
        list(
            badge: app.allowsBadge, sound: app.allowsSound,
            alert: app.alertStyle == AlertStyle.none.rawValue ? nil : style(app.alertStyle))
    }

    /// The same of an event type.
    package static func subtitle(badge: Bool, sound: Bool, alert: Bool) -> String {
        list(badge: badge, sound: sound, alert: alert ? tr("Alerts") : nil)
    }

    private static func list(badge: Bool, sound: Bool, alert: String?) -> String {
        let parts = [badge ? tr("Badges") : nil, sound ? tr("Sounds") : nil, alert].compactMap { $0 }
        return parts.isEmpty ? tr("Off") : parts.joined(separator: tr(", "))
    }

    /// How alerts appear.
    package static func style(_ value: String) -> String {
        switch AlertStyle(value) {
        case .banner: tr("Banners")
        case .alert: tr("Alerts")
        case AlertStyle.none?, nil: tr("None")
        }
    }

    /// What a screen reader calls the icon of an app: `Mail, 3 new items`.
    package static func iconName(_ app: AppFacts) -> String {
        guard app.badge > 0 else { return app.name }
        let count = Texts.text("%d new item", "%d new items", count: Int(clamping: app.badge))
        return "\(app.name)\(tr(", "))\(count)"
    }
}

/// Numbers in red.
package enum BadgeText {
    /// On an app's icon: digits only, however many; nil for none.
    package static func icon(_ badge: Int64) -> String? { badge > 0 ? "\(badge)" : nil }

    /// Whether an icon has no room for it in the usual size; it is smaller then, and all of it to be read.
    package static func isLong(_ text: String, textScale: Double) -> Bool {
        Double(text.utf8.count) * digitWidth * textScale > iconWidth
    }

    /// The room of a digit and that of an icon, in pixels.
    private static let (digitWidth, iconWidth) = (9.0, 76.0)

    /// On a tab: how many are new, or an ellipsis while nobody knows; nil for none.
    package static func tab(_ count: Int?) -> String? {
        guard let count else { return "…" }
        return count > 0 ? "\(count)" : nil
    }
}
