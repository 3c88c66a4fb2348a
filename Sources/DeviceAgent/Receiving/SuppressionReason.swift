// SPDX-License-Identifier: Apache-2.0

/// Why a notification, or a part of it, was not shown; the raw values are in the inbox and go to the server.
package enum SuppressionReason: String, Sendable, CaseIterable {
    /// The master switch is off.
    case masterOff = "master-off"
    /// No app is registered here for its topic.
    case unknownApp = "unknown-app"
    /// The person switched off what it has.
    case switchedOff = "switched-off"
    /// The person switched that off for this kind of event.
    case eventOff = "event-off"
    /// The person does not want to be disturbed now.
    case doNotDisturb = "do-not-disturb"
    /// The silent switch is on; of sounds only.
    case silent
    /// The sound output is muted, or the desktop wants no event sounds; of sounds only.
    case muted
    /// Something is being recorded, or a call goes on; of sounds only.
    case recording
    /// No sound server took it; of sounds only.
    case unavailable
    /// The provider wants it seen but not heard; of sounds only.
    case passive
    /// There is nothing in it to show: a background notification.
    case nothingToShow = "nothing-to-show"
    /// The badge is no whole number, so that the icon keeps the one it has; of badges only.
    case badBadge = "bad-badge"
    /// It had expired when it came.
    case expired
    /// It looked the same as one that came just before, and told the app nothing else.
    case duplicate
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
    /// The app's own filter had nothing shown.
    case filtered
}
