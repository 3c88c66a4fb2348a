// SPDX-License-Identifier: Apache-2.0

/// A step in the life of a notification; the raw values are stored and must never change.
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

    /// The description for a human reader, as one phrase.
    public var meaning: String {
        switch self {
        case .accepted: "accepted from the back-end"
        case .stored: "stored on disk"
        case .sent: "sent to the device"
        case .acknowledged: "received by the device"
        case .shown: "shown"
        case .soundOnly: "sound played, no alert shown"
        case .suppressed: "not shown"
        case .viewed: "opened by the user"
        case .closed: "closed by the user"
        case .replaced: "replaced by a newer notification with the same collapse ID"
        case .expired: "expired before delivery"
        case .dropped: "dropped"
        case .unregistered: "the app is no longer registered on the device"
        }
    }

    /// Whether the server no longer keeps the notification for the device after the step.
    public var isEnd: Bool {
        switch self {
        case .accepted, .stored, .sent: false
        case .acknowledged, .shown, .soundOnly, .suppressed, .viewed, .closed, .replaced, .expired, .dropped,
            .unregistered:
            true
        }
    }

    /// Whether webhooks report the step.
    ///
    /// They report the results of a notification, without the steps that the back-end knows from its 200 response.
    public var isForWebhooks: Bool { isEnd }
}
