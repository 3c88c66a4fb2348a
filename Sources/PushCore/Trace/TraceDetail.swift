// SPDX-License-Identifier: Apache-2.0

/// Why a step happened; the numbers are in the store and never change.
public enum TraceDetail: UInt8, CaseIterable, Sendable {
    case none = 0
    // Why the server gave one up.
    case topicBound = 1
    case deviceBound = 2
    case refusedByDevice = 3
    case damaged = 4
    case notConnected = 5
    case windowFull = 6
    case notWritten = 7
    // What a device gave as its reason.
    case masterOff = 32
    case switchedOff = 33
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
    case otherReason = 63

    /// The word in JSON and on the command line, for devices the device API's; nil for none.
    public var word: String? {
        switch self {
        case .none: nil
        case .topicBound: "too-many-of-topic"
        case .deviceBound: "too-many-of-device"
        case .refusedByDevice: "refused-by-device"
        case .damaged: "damaged"
        case .notConnected: "not-connected"
        case .windowFull: "window-full"
        case .notWritten: "not-written"
        case .masterOff: "master-off"
        case .switchedOff: "switched-off"
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
        case .otherReason: "other"
        }
    }

    /// One phrase for a person; nil for none.
    public var meaning: String? {
        switch self {
        case .none: nil
        case .topicBound: "too many of this app waited for the device"
        case .deviceBound: "too many waited for the device"
        case .refusedByDevice: "the device wants nothing of this app"
        case .damaged: "the disk changed it"
        case .notConnected: "now or never, and the device was not connected"
        case .notWritten: "the disk did not take it; the back-end was told to send it again"
        case .windowFull: "now or never, and the device had not acknowledged enough"
        case .masterOff: "all notifications are switched off"
        case .switchedOff: "the person switched that off for the app"
        case .unknownApp: "no app is registered there for the topic"
        case .nothingToShow: "there is nothing in it to show"
        case .replacedOnDevice: "a newer one came before it could be shown"
        case .tooMany: "too many came at once"
        case .cleared: "the person cleared the inbox"
        case .unreadable: "the device cannot read it"
        case .unsubscribed: "the app gave the channel up"
        case .badgeOnly: "only the number on the icon"
        case .eventOff: "the person switched that off for this kind of event"
        case .doNotDisturb: "the person does not want to be disturbed now"
        case .silent: "the person has sounds silenced"
        case .muted: "sounds are muted there"
        case .recording: "something was being recorded, or a call went on"
        case .passive: "it is to be seen and not heard"
        case .expiredOnDevice: "it had expired when it came to the device"
        case .duplicate: "the same came just before"
        case .filtered: "the app's own filter let nothing through"
        case .badBadge: "its badge is not a whole number from 0 to 4294967295"
        case .unavailable: "nothing there could play its sound"
        case .otherReason: "the device gave a reason of its own"
        }
    }

    /// Whether a device gives it as a reason.
    public var isOfDevice: Bool { rawValue >= Self.masterOff.rawValue }

    /// What a device gave as its reason; one that is none of ours is only known to be another.
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
