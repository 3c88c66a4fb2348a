// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore

/// Log lines about refused requests, with the peer's address and principal.
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
                    "reason": reason, "source": peer.source.description, "principal": peer.principal.logText,
                    "detail": rejection.detail,
                ],
                about: peer.source.logSubject(reason))
        case 429:
            info(
                "provider_limited",
                ["reason": reason, "source": peer.source.description, "principal": peer.principal.logText],
                about: peer.source.logSubject(reason))
        default:
            debug(
                "request_refused",
                ["reason": reason, "source": peer.source.description, "principal": peer.principal.logText])
        }
    }

    /// Logs a refusal of the device API or the admin API.
    func refused(_ refusal: StoreRefusal, on peer: ServerConnection) {
        let reason = refusal.word
        switch refusal {
        case .badEnrolmentCode:
            warning(
                "enrolment_refused",
                ["reason": reason, "source": peer.source.description, "principal": peer.principal.logText],
                about: peer.source.logSubject(reason))
        case .unauthorized:
            info(
                "device_refused",
                ["reason": reason, "source": peer.source.description, "principal": peer.principal.logText],
                about: peer.source.logSubject(reason))
        case .tooMany, .busy:
            info(
                "device_limited",
                ["reason": reason, "source": peer.source.description, "principal": peer.principal.logText],
                about: peer.source.logSubject(reason))
        case .broadcastsNotAllowed, .unknownTopic, .unknownDevice, .unknownKey, .unknownTeam, .unknownCertificate,
            .unknownChannel, .unknownPolicy, .unknownCode, .unknownSendToken, .alreadyExists, .unknownNode, .nodeIsLive,
            .unknownShard, .shardNotEverywhere, .slotsAreMoving, .moveEnded, .oldNode, .noCluster, .keysUnchanged,
            .traceOff, .draining, .unavailable, .unconfirmed:
            debug(
                "request_refused",
                ["reason": reason, "source": peer.source.description, "principal": peer.principal.logText])
        }
    }

    /// Logs that an administrator requested a change, without its body.
    ///
    /// Device tokens and fingerprints, of 64 digits, are cut to the first 8.
    func administered(_ target: [String], _ method: String, on connection: ServerConnection) {
        let user = connection.peerUserID.map(String.init) ?? "unknown"
        let names = target.map { $0.utf8.count == 64 ? "\($0.prefix(8))…" : $0 }
        info("admin_request", ["method": method, "path": "/v1/" + names.joined(separator: "/"), "user": user])
    }

    /// Logs a request to send without a valid token.
    func refusedSender(on peer: ServerConnection) {
        warning(
            "sender_refused", ["source": peer.source.description, "principal": peer.principal.logText],
            about: peer.source.logSubject("send"))
    }

    /// Logs that a user who is not an administrator used the admin API.
    func refusedAdministration(on connection: ServerConnection) {
        let user = connection.peerUserID.map(String.init) ?? "unknown"
        warning("administrator_refused", ["user": user], about: user)
    }
}
