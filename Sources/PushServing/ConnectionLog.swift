// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Log lines about connections, with the peer's address and principal.
///
/// A line that any peer can cause appears at most once a minute for each network and reason; its `left_out` counts the
/// rest.
extension EventLog {
    /// Logs that a connection was closed to make space for others.
    func shed(_ connection: ServerConnection, reason: String) {
        info(
            "connection_shed",
            ["reason": reason, "source": connection.source.description, "principal": connection.principal.logText],
            about: connection.source.logSubject(reason))
    }

    /// Logs the end of a connection that neither side intended.
    func closed(_ connection: ServerConnection, reason: String) {
        debug(
            "connection_closed",
            ["reason": reason, "source": connection.source.description, "principal": connection.principal.logText])
    }

    /// Logs that a peer violated the HTTP protocol.
    func failedSession(_ connection: ServerConnection, reason: String) {
        debug(
            "session_failed",
            ["reason": reason, "source": connection.source.description, "principal": connection.principal.logText])
    }
}

extension SourceAddress {
    /// The subject of a log line about a peer: its whole network, because one peer can choose any address in it.
    package func logSubject(_ reason: String) -> String { "\(network) \(reason)" }
}

extension Principal {
    /// The principal in log lines.
    package var logText: String {
        switch self {
        case .stranger: "stranger"
        case .device(let device): "device/\(device.text)"
        // The ID of a certificate is its whole fingerprint.
        case .provider(let id): "provider/\(id.prefix(10))"
        case .node(let number): "node/\(number)"
        case .administrator: "administrator"
        case .monitor: "monitor"
        }
    }
}
