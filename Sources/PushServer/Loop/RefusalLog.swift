// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Lines about refused requests and closed connections, with the peer's address and what it proved to be.
///
/// A line that any peer can cause comes once a minute for each network and reason; its `left_out` counts the rest. No
/// line has a key, a secret, a token or text of a payload: only reasons, and details about credentials.
extension EventLog {
    /// Logs a rejection of the provider API: a failed authentication as a warning, 429 at info, all others at debug.
    func refused(_ rejection: Rejection, on peer: ServerConnection) {
        let reason = rejection.reason.rawValue
        switch rejection.reason.status {
        case 403:
            warning(
                "provider_refused",
                [
                    "reason": reason, "source": peer.sourceText, "principal": peer.principalText,
                    "detail": rejection.detail,
                ],
                about: peer.logSubject(reason))
        case 429:
            info(
                "provider_limited",
                ["reason": reason, "source": peer.sourceText, "principal": peer.principalText],
                about: peer.logSubject(reason))
        default:
            debug(
                "request_refused", ["reason": reason, "source": peer.sourceText, "principal": peer.principalText])
        }
    }

    /// Logs a refusal of the device API or the admin API.
    func refused(_ refusal: StoreRefusal, on peer: ServerConnection) {
        let reason = refusal.word
        switch refusal {
        case .badEnrolmentCode:
            warning(
                "enrolment_refused",
                ["reason": reason, "source": peer.sourceText, "principal": peer.principalText],
                about: peer.logSubject(reason))
        case .unauthorized:
            info(
                "device_refused",
                ["reason": reason, "source": peer.sourceText, "principal": peer.principalText],
                about: peer.logSubject(reason))
        case .tooMany, .busy:
            info(
                "device_limited",
                ["reason": reason, "source": peer.sourceText, "principal": peer.principalText],
                about: peer.logSubject(reason))
        case .broadcastsNotAllowed, .unknownTopic, .unknownDevice, .unknownKey, .unknownTeam, .unknownCertificate,
            .unknownChannel, .unknownPolicy, .unknownCode, .alreadyExists, .traceOff, .unavailable:
            debug(
                "request_refused", ["reason": reason, "source": peer.sourceText, "principal": peer.principalText])
        }
    }

    /// Logs that a user who is no administrator asked for the admin API.
    func refusedAdministration(on connection: ServerConnection) {
        let user = connection.peerUserID.map(String.init) ?? "unknown"
        warning("administrator_refused", ["user": user], about: user)
    }

    /// Logs that a connection was closed to make room for others.
    func shed(_ connection: ServerConnection, reason: String) {
        info(
            "connection_shed",
            ["reason": reason, "source": connection.sourceText, "principal": connection.principalText],
            about: connection.logSubject(reason))
    }

    /// Logs the end of a connection that neither side asked for.
    func closed(_ connection: ServerConnection, reason: String) {
        debug(
            "connection_closed",
            ["reason": reason, "source": connection.sourceText, "principal": connection.principalText])
    }

    /// Logs that a peer broke the rules of HTTP.
    func failedSession(_ connection: ServerConnection, reason: String) {
        debug(
            "session_failed",
            ["reason": reason, "source": connection.sourceText, "principal": connection.principalText])
    }
}

extension ServerConnection {
    fileprivate var sourceText: String { source.description }
    fileprivate var principalText: String { principal.logText }
    /// The subject of refusals: whole networks, in which one peer can choose any address.
    fileprivate func logSubject(_ reason: String) -> String { "\(source.network) \(reason)" }
}

extension Principal {
    /// The principal in lines of the log.
    var logText: String {
        switch self {
        case .stranger: "stranger"
        case .device(let device): "device/\(device.text)"
        // A certificate's id is its whole fingerprint.
        case .provider(let id): "provider/\(id.prefix(10))"
        case .administrator: "administrator"
        }
    }
}
