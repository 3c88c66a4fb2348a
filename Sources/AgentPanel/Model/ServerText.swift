// SPDX-License-Identifier: Apache-2.0

/// Texts about the connection to the server.
package struct ServerText: Equatable, Sendable {
    private let server: ServerFacts

    /// Takes the server of a status.
    package init(_ server: ServerFacts) { self.server = server }

    /// The server's address without the scheme; empty while the device is not paired.
    package var name: String {
        server.url.hasPrefix("https://") ? String(server.url.dropFirst("https://".count)) : server.url
    }

    /// The connection state in one or two words.
    package var state: String {
        guard !server.url.isEmpty else { return tr("None") }
        return server.connectedSinceUnixSeconds == nil ? tr("Not Connected") : tr("Connected")
    }

    /// Returns when the device was last connected, or `Connecting…` while no error occurred.
    ///
    /// - Parameter now: The current time in UNIX seconds.
    /// - Returns: A sentence without a period; empty if there is no server.
    package func connection(now: Int64) -> String {
        guard !server.url.isEmpty else { return "" }
        if let since = server.connectedSinceUnixSeconds {
            return Texts.fill(tr("Connected since %1"), PanelTime.moment(since, now: now))
        }
        guard !server.lastError.isEmpty else { return tr("Connecting…") }
        guard let last = server.lastConnectedUnixSeconds else { return tr("Not connected yet") }
        return Texts.fill(tr("Last connected %1"), PanelTime.moment(last, now: now))
    }

    /// The connection problem, followed by the agent's error text for the administrator; may be empty.
    package var trouble: String {
        guard server.connectedSinceUnixSeconds == nil, !server.lastError.isEmpty else { return "" }
        if server.isRemoved {
            return tr("The server no longer knows this computer. Leave the server, then pair again.")
        }
        return tr("The server cannot be reached. Retrying automatically.") + "\n" + server.lastError
    }
}
