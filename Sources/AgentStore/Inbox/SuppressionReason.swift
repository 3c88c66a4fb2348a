// SPDX-License-Identifier: Apache-2.0

/// The reason why a notification, or a part of it, was not presented.
///
/// The inbox and the server get the raw value.
package enum SuppressionReason: String, Sendable, CaseIterable {
    /// The master switch is off.
    case masterOff = "master-off"
    /// No app on this device is registered for the topic.
    case unknownApp = "unknown-app"
    /// The user switched this part off for the app.
    case turnedOff = "switched-off"
    /// The user switched this part off for the event type.
    case eventOff = "event-off"
    /// The user's "do not disturb" mode is on.
    case doNotDisturb = "do-not-disturb"
    /// The user muted the app for a while.
    case appMuted = "app-muted"
    /// The silent switch is on.
    ///
    /// Applies to sounds only.
    case silent
    /// The sound output is muted, or the desktop has event sounds off.
    ///
    /// Applies to sounds only.
    case muted
    /// A recording or a call is running.
    ///
    /// Applies to sounds only.
    case recording
    /// No sound server accepted the sound.
    ///
    /// Applies to sounds only.
    case unavailable
    /// The provider set the level `passive`: visible but silent.
    ///
    /// Applies to sounds only.
    case passive
    /// The notification has nothing to show: a background notification.
    case nothingToShow = "nothing-to-show"
    /// The badge is not a whole number, so the icon keeps the present one.
    ///
    /// Applies to badges only.
    case badBadge = "bad-badge"
    /// The notification had expired when it arrived.
    case expired
    /// The notification looks the same as the one just before it and has no new content for the app.
    case duplicate
    /// A newer notification with the same collapse ID arrived before this one could be shown.
    case replaced
    /// Too many notifications arrived at once; this one is in the inbox only.
    case tooMany = "too-many"
    /// The user cleared the notification before it could be shown.
    case cleared
    /// The payload is not readable.
    case unreadable
    /// The notification is a broadcast on a channel that the app is no longer subscribed to.
    case unsubscribed
    /// The app's own filter removed everything visible.
    case filtered
}
