// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCore

/// Texts about the connection to the server.
struct ServerText: Equatable, Sendable {
    private let status: StatusRecord

    /// Takes the state of the agent.
    init(_ status: StatusRecord) { self.status = status }

    /// The server's address without the scheme; empty while the device is not paired.
    var name: String {
        status.serverURL.hasPrefix("https://") ? String(status.serverURL.dropFirst("https://".count)) : status.serverURL
    }

    /// Returns when the device was last connected, or `Connecting…` while no error occurred.
    ///
    /// - Parameter now: The current time.
    /// - Returns: A sentence without a period; empty if there is no server.
    func connection(now: Timestamp) -> String {
        guard !status.serverURL.isEmpty else { return "" }
        if let since = status.connectionStart {
            return Texts.fill(tr("Connected since %1"), PanelTime.moment(since, now: now))
        }
        guard status.problem != .none else { return tr("Connecting…") }
        guard let last = status.lastConnectedAt else { return tr("Not connected yet") }
        return Texts.fill(tr("Last connected %1"), PanelTime.moment(last, now: now))
    }

    /// The connection problem with its remedy; empty without a problem.
    var trouble: String {
        status.connectionStart == nil ? Self.sentences(status.problem) : ""
    }

    /// The news about subscriptions that the server ended; empty if there are none.
    var notice: String {
        status.notice.isEmpty ? "" : tr("The server ended the subscription of an app to a channel. Restart the app.")
    }

    /// The agent's own descriptions of the problem and the news, in English, for the administrator; may be empty.
    var details: String {
        [trouble.isEmpty ? "" : status.lastError, status.notice].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func sentences(_ problem: ConnectionProblem) -> String {
        switch problem {
        case .none: ""
        case .unreachable:
            tr("The server cannot be reached. Retrying automatically. If this lasts, check the network.")
        case .wrongServer:
            [
                tr("This is not the server that this computer was paired with."),
                tr("The server may have been reinstalled, or someone may be intercepting the connection."),
                tr(
                    "Ask your administrator. If they confirm the change, use “Trust This Server” with their code."
                ),
            ].joined(separator: " ")
        case .certificate:
            tr("The certificate of the server is invalid or expired. Retrying automatically. Tell your administrator.")
        case .configuration:
            tr("A setting for the connection cannot be used. Ask your administrator to check agent.ini.")
        case .secretLost:
            tr("This computer can no longer sign in to the server. Leave the server, then pair again.")
        case .enrolmentCode:
            tr("The server refused the code in agent.ini. Ask your administrator for a new one.")
        case .storage:
            tr("Notifications cannot be saved on this computer. Free some disk space. Retrying automatically.")
        case .removed: tr("The server no longer knows this computer. Leave the server, then pair again.")
        case .server: tr("The server ended the connection or reported an error. Retrying automatically.")
        }
    }
}
