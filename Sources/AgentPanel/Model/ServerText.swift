// SPDX-License-Identifier: Apache-2.0

/// Texts about the connection to the server.
package struct ServerText: Equatable, Sendable {
    /// The server's URL; empty while the device is not paired.
    package var url: String
    /// The start of the current connection in UNIX seconds; nil while disconnected.
    package var connectedSinceUnixSeconds: Int64?
    /// The end of the last connection in UNIX seconds; nil if there never was one.
    package var lastConnectedUnixSeconds: Int64?
    /// The last error, as the agent's English text; may be empty.
    package var lastError: String
    /// Whether the server said that it no longer knows this device.
    package var isRemoved: Bool

    package init(
        url: String, connectedSinceUnixSeconds: Int64?, lastConnectedUnixSeconds: Int64?, lastError: String,
        isRemoved: Bool = false
    ) {
        self.url = url
        self.connectedSinceUnixSeconds = connectedSinceUnixSeconds
        self.lastConnectedUnixSeconds = lastConnectedUnixSeconds
        self.lastError = lastError
        self.isRemoved = isRemoved
    }

    /// The server's address without the scheme; empty while the device is not paired.
    package var name: String {
        url.hasPrefix("https://") ? String(url.dropFirst("https://".count)) : url
    }

    /// The connection state in one or two words.
    package var state: String {
        guard !url.isEmpty else { return tr("None") }
        return connectedSinceUnixSeconds == nil ? tr("Not Connected") : tr("Connected")
    }

    /// Returns when the device was last connected, or `Connecting…` while no error occurred.
    ///
    /// - Parameter now: The current time in UNIX seconds.
    /// - Returns: A sentence without a period; empty if there is no server.
    package func connection(now: Int64) -> String {
        guard !url.isEmpty else { return "" }
        if let since = connectedSinceUnixSeconds {
            return Texts.fill(tr("Connected since %1"), PanelTime.moment(since, now: now))
        }
        guard !lastError.isEmpty else { return tr("Connecting…") }
        guard let last = lastConnectedUnixSeconds else { return tr("Not connected yet") }
        return Texts.fill(tr("Last connected %1"), PanelTime.moment(last, now: now))
    }

    /// The connection problem, followed by the agent's error text for the administrator; may be empty.
    package var trouble: String {
        guard connectedSinceUnixSeconds == nil, !lastError.isEmpty else { return "" }
        if isRemoved { return tr("The server no longer knows this computer. Leave the server, then pair again.") }
        return tr("The server cannot be reached. Retrying automatically.") + "\n" + lastError
    }
}
