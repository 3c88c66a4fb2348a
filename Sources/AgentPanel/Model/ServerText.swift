// SPDX-License-Identifier: Apache-2.0

/// What the panel says of the connection: where from, since when, and what is wrong.
package struct ServerText: Equatable, Sendable {
    /// The server's URL; empty while the device is paired with none.
    package var url: String
    /// UNIX seconds; nil while there is no connection.
    package var connectedSinceUnixSeconds: Int64?
    /// UNIX seconds; nil when there never was one.
    package var lastConnectedUnixSeconds: Int64?
    /// What went wrong last, in the agent's words, which are English; empty for nothing.
    package var lastError: String
    /// Whether the server said that it knows this device no more.
    package var isRemoved: Bool

    /// Joins the parts.
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

    /// The server's name without what only machines need; empty for none.
    package var name: String {
        url.hasPrefix("https://") ? String(url.dropFirst("https://".count)) : url
    }

    /// One word or two: how it stands.
    package var state: String {
        guard !url.isEmpty else { return tr("None") }
        return connectedSinceUnixSeconds == nil ? tr("Not Connected") : tr("Connected")
    }

    /// When there last was a connection, or that one is made: as long as nothing went wrong, the agent is at it.
    ///
    /// - Parameter now: From which it is looked at, UNIX seconds.
    /// - Returns: A sentence without an end; empty where there is no server.
    package func connection(now: Int64) -> String {
        guard !url.isEmpty else { return "" }
        if let since = connectedSinceUnixSeconds {
            return Texts.fill(tr("Connected since %1"), PanelTime.moment(since, now: now))
        }
        guard !lastError.isEmpty else { return tr("Connecting…") }
        guard let last = lastConnectedUnixSeconds else { return tr("Not connected yet") }
        return Texts.fill(tr("Last connected %1"), PanelTime.moment(last, now: now))
    }

    /// What is wrong while there is no connection and what becomes of it, and below it the agent's words for whoever runs the
    /// server; empty for nothing.
    package var trouble: String {
        guard connectedSinceUnixSeconds == nil, !lastError.isEmpty else { return "" }
        if isRemoved { return tr("The server does not know this computer any more. Leave it, and pair again.") }
        return tr("The server cannot be reached. It is tried again by itself.") + "\n" + lastError
    }
}
