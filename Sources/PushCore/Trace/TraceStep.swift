// SPDX-License-Identifier: Apache-2.0

/// What happened to a notification at one moment; the numbers are in the store and never change.
public enum TraceStep: UInt8, CaseIterable, Sendable {
    case accepted = 1
    case stored = 2
    case sent = 3
    case acknowledged = 4
    case shown = 5
    case soundOnly = 6
    case suppressed = 7
    case viewed = 8
    case closed = 9
    case replaced = 10
    case expired = 11
    case dropped = 12
    case unregistered = 13

    /// The word in JSON and on the command line.
    public var word: String {
        switch self {
        case .accepted: "accepted"
        case .stored: "stored"
        case .sent: "sent"
        case .acknowledged: "acknowledged"
        case .shown: "shown"
        case .soundOnly: "sound-only"
        case .suppressed: "suppressed"
        case .viewed: "viewed"
        case .closed: "closed"
        case .replaced: "replaced"
        case .expired: "expired"
        case .dropped: "dropped"
        case .unregistered: "unregistered"
        }
    }

    /// One phrase for a person.
    public var meaning: String {
        switch self {
        case .accepted: "accepted from the back-end"
        case .stored: "stored; survives a restart"
        case .sent: "sent to the device"
        case .acknowledged: "the device has it"
        case .shown: "shown"
        case .soundOnly: "heard, not shown"
        case .suppressed: "not shown"
        case .viewed: "the person opened it"
        case .closed: "the person closed it"
        case .replaced: "a newer one with the same collapse id took its place"
        case .expired: "its expiration passed"
        case .dropped: "dropped"
        case .unregistered: "the app is not registered on the device any more"
        }
    }

    /// Whether webhooks tell it: what became of a notification, without what a back-end knows from its 200.
    public var isForWebhooks: Bool {
        switch self {
        case .accepted, .stored, .sent: false
        case .acknowledged, .shown, .soundOnly, .suppressed, .viewed, .closed, .replaced, .expired, .dropped,
            .unregistered:
            true
        }
    }
}
