// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCore

/// The reason why no notification can arrive, for the line above the list.
enum ConnectionTrouble: Equatable, Sendable {
    case notPaired
    /// The connection ended or never began; carries the reason, and the time of the last connection.
    case disconnected(ConnectionProblem, since: Timestamp?)

    /// Chooses the reason; nil while the computer is connected, or connects without an error.
    init?(_ status: StatusRecord) {
        guard status.isEnrolled else {
            self = .notPaired
            return
        }
        guard status.connectionStart == nil, status.problem != .none else { return nil }
        self = .disconnected(status.problem, since: status.lastConnectedAt)
    }

    /// Returns the text of the line.
    func text(now: Timestamp) -> String {
        guard case .disconnected(let problem, let since) = self else {
            return tr("This computer is not paired with a server.")
        }
        switch problem {
        case .removed: return tr("The server no longer knows this computer.")
        case .wrongServer: return tr("This is not the server that this computer was paired with.")
        case .storage: return tr("Notifications cannot be saved on this computer.")
        case .secretLost: return tr("This computer can no longer sign in to the server.")
        case .none, .unreachable, .certificate, .configuration, .enrolmentCode, .server:
            guard let since else { return tr("Not connected yet") }
            return Texts.fill(tr("Not connected since %1"), PanelTime.moment(since, now: now))
        }
    }

    /// The label of the remedy that the line offers; nil if the line opens the settings.
    var remedy: String? { self == .notPaired ? tr("Pair…") : nil }
}
