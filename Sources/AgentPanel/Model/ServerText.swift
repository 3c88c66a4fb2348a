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

    /// The connection state in one or two words.
    var state: String {
        guard !status.serverURL.isEmpty else { return tr("None") }
        return status.connectionStart == nil ? tr("Not Connected") : tr("Connected")
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
        guard !status.lastError.isEmpty else { return tr("Connecting…") }
        guard let last = status.lastConnectedAt else { return tr("Not connected yet") }
        return Texts.fill(tr("Last connected %1"), PanelTime.moment(last, now: now))
    }

    /// The connection problem, followed by the agent's error text for the administrator; may be empty.
    var trouble: String {
        guard status.connectionStart == nil, !status.lastError.isEmpty else { return "" }
        if status.isRemoved {
            return tr("The server no longer knows this computer. Leave the server, then pair again.")
        }
        return tr("The server cannot be reached. Retrying automatically.") + "\n" + status.lastError
    }
}
