// SPDX-License-Identifier: Apache-2.0

/// What the panel says of the connection: where from, since when, and what is wrong.
package struct ServerText: Equatable, Sendable {
    /// The server's URL; empty while the device is enrolled with none.
    package var url: String
    /// UNIX seconds; nil while there is no connection.
    package var connectedSinceUnixSeconds: Int64?
    /// UNIX seconds; nil when there never was one.
    package var lastConnectedUnixSeconds: Int64?
    /// What went wrong last; empty for nothing.
    package var lastError: String

    /// Joins the parts.
    package init(
        url: String, connectedSinceUnixSeconds: Int64?, lastConnectedUnixSeconds: Int64?, lastError: String
    ) {
        self.url = url
        self.connectedSinceUnixSeconds = connectedSinceUnixSeconds
        self.lastConnectedUnixSeconds = lastConnectedUnixSeconds
        self.lastError = lastError
    }

    /// The server, then the connection, then the trouble, a line each.
    package var subtitle: String {
        guard !url.isEmpty else { return "None yet. Enrol this device: posthorn agent enrol" }
        return [url, connection, connectedSinceUnixSeconds == nil ? lastError : ""].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    private var connection: String {
        if let connectedSinceUnixSeconds { return "Connected since \(PanelTime.text(connectedSinceUnixSeconds))" }
        guard let lastConnectedUnixSeconds else { return "Not connected yet" }
        return "Not connected. Last connected \(PanelTime.text(lastConnectedUnixSeconds))"
    }
}
