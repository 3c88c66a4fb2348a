// SPDX-License-Identifier: Apache-2.0

/// The reason for a trace step; the raw values are stored and must never change.
public enum TraceDetail: UInt8, CaseIterable, Sendable {
    case none = 0
    // Reasons for which the server discarded a notification.
    case topicBound = 1
    case deviceBound = 2
    case refusedByDevice = 3
    case damaged = 4
    case notConnected = 5
    case windowFull = 6
    case notWritten = 7
    /// Marks the acceptance of a notification that another node records for the node that accepted it.
    case recordedAgain = 8
    // Reasons that a device reported.
    case masterOff = 32
    case turnedOff = 33
    case unknownApp = 34
    case nothingToShow = 35
    case replacedOnDevice = 36
    case tooMany = 37
    case cleared = 38
    case unreadable = 39
    case unsubscribed = 40
    case badgeOnly = 41
    case eventOff = 42
    case doNotDisturb = 43
    case silent = 44
    case muted = 45
    case recording = 46
    case passive = 47
    case expiredOnDevice = 48
    case duplicate = 49
    case filtered = 50
    case badBadge = 51
    case unavailable = 52
    case appMuted = 53
    case otherReason = 63

    /// The word in JSON and on the command line; nil for none.
    ///
    /// For reasons that devices report, it is the word of the device API.
    public var word: String? {
        switch self {
        case .none, .recordedAgain: nil
        case .topicBound: "too-many-of-topic"
        case .deviceBound: "too-many-of-device"
        case .refusedByDevice: "refused-by-device"
        case .damaged: "damaged"
        case .notConnected: "not-connected"
        case .windowFull: "window-full"
        case .notWritten: "not-written"
        case .masterOff: "master-off"
        case .turnedOff: "switched-off"
        case .unknownApp: "unknown-app"
        case .nothingToShow: "nothing-to-show"
        case .replacedOnDevice: "replaced"
        case .tooMany: "too-many"
        case .cleared: "cleared"
        case .unreadable: "unreadable"
        case .unsubscribed: "unsubscribed"
        case .badgeOnly: "badge-only"
        case .eventOff: "event-off"
        case .doNotDisturb: "do-not-disturb"
        case .silent: "silent"
        case .muted: "muted"
        case .recording: "recording"
        case .passive: "passive"
        case .expiredOnDevice: "expired"
        case .duplicate: "duplicate"
        case .filtered: "filtered"
        case .badBadge: "bad-badge"
        case .unavailable: "unavailable"
        case .appMuted: "app-muted"
        case .otherReason: "other"
        }
    }

    /// The description for a human reader, as one phrase; nil for none.
    public var meaning: String? {
        switch self {
        case .none, .recordedAgain: nil
        case .topicBound: "too many pending notifications of this app for the device"
        case .deviceBound: "too many pending notifications for the device"
        case .refusedByDevice: "the device refuses notifications of this app"
        case .damaged: "damaged on disk"
        case .notConnected: "expiration 0, and the device was not connected"
        case .notWritten: "could not be stored; the back-end was asked to send it again"
        case .windowFull: "expiration 0, and too many notifications were not acknowledged yet"
        case .masterOff: "notifications are turned off (master switch)"
        case .turnedOff: "turned off for this app"
        case .unknownApp: "no app is registered for the topic"
        case .nothingToShow: "the notification has nothing to show"
        case .replacedOnDevice: "replaced by a newer notification before it was shown"
        case .tooMany: "too many notifications in a short time"
        case .cleared: "the user cleared the inbox"
        case .unreadable: "the device cannot read the notification"
        case .unsubscribed: "the app unsubscribed from the channel"
        case .badgeOnly: "badge only"
        case .eventOff: "turned off for this event type"
        case .doNotDisturb: "Do Not Disturb is on"
        case .silent: "sounds are turned off"
        case .muted: "the device is muted"
        case .recording: "the microphone was in use"
        case .passive: "the notification is passive"
        case .expiredOnDevice: "expired when it arrived at the device"
        case .duplicate: "duplicate of a recent notification"
        case .filtered: "the app's filter suppressed it"
        case .badBadge: "the badge is not a whole number from 0 to 4294967295"
        case .unavailable: "the device cannot play sounds"
        case .appMuted: "the user muted the app for a while"
        case .otherReason: "another reason, reported by the device"
        }
    }

    /// Whether devices report this reason.
    public var isOfDevice: Bool { rawValue >= Self.masterOff.rawValue }

    /// Maps a device's reason text; unknown texts map to `otherReason`.
    package init(deviceReason: String?) {
        guard let deviceReason, !deviceReason.isEmpty else {
            self = .none
            return
        }
        self =
            Self.allCases.first { $0.isOfDevice && $0.word?.utf8.elementsEqual(deviceReason.utf8) == true }
            ?? .otherReason
    }
}
