// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Log lines about refused requests and closed connections, with the peer's address and principal.
///
/// A line that any peer can cause appears at most once a minute for each network and reason; its `left_out` counts the
/// rest. No line contains a key, a secret, a token or payload text, only reasons and details about credentials.
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

    /// Logs that a user who is not an administrator used the admin API.
    func refusedAdministration(on connection: ServerConnection) {
        let user = connection.peerUserID.map(String.init) ?? "unknown"
        warning("administrator_refused", ["user": user], about: user)
    }

    /// Logs that a connection was closed to make space for others.
    func shed(_ connection: ServerConnection, reason: String) {
        info(
            "connection_shed",
            ["reason": reason, "source": connection.sourceText, "principal": connection.principalText],
            about: connection.logSubject(reason))
    }

    /// Logs the end of a connection that neither side intended.
    func closed(_ connection: ServerConnection, reason: String) {
        debug(
            "connection_closed",
            ["reason": reason, "source": connection.sourceText, "principal": connection.principalText])
    }

    /// Logs that a peer violated the HTTP protocol.
    func failedSession(_ connection: ServerConnection, reason: String) {
        debug(
            "session_failed",
            ["reason": reason, "source": connection.sourceText, "principal": connection.principalText])
    }
}

extension ServerConnection {
    fileprivate var sourceText: String { source.description }
    fileprivate var principalText: String { principal.logText }
    /// The subject of refusals: the whole network, because one peer can choose any address in it.
    fileprivate func logSubject(_ reason: String) -> String { "\(source.network) \(reason)" }
}

extension Principal {
    /// The principal in log lines.
    var logText: String {
        switch self {
        case .stranger: "stranger"
        case .device(let device): "device/\(device.text)"
        // The ID of a certificate is its whole fingerprint.
        case .provider(let id): "provider/\(id.prefix(10))"
        case .administrator: "administrator"
        }
    }
}
