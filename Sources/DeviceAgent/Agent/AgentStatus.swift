// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// How the agent is doing.
package struct AgentStatus: Sendable, Equatable {
    /// The agent's version.
    package var version = ProductVersion.text
    /// Whether it has a server.
    package var isEnrolled: Bool
    /// The server; empty for none.
    package var serverURL: String
    /// The device id; empty for none.
    package var deviceID: String
    /// Whether notifications come now.
    package var isConnected: Bool
    /// Since when, UNIX seconds; 0 while not connected.
    package var connectedSinceUnixSeconds: Int64
    /// When it last was, UNIX seconds; 0 for never.
    package var lastConnectedUnixSeconds: Int64
    /// What is wrong with the connection; empty for nothing.
    package var lastError: String
    /// What else a person should know, such as a channel that the server ended; empty for nothing.
    package var notice = ""
    /// What alerts are shown with: `desktop`, `terminal` or `none`, also while no notification server is there.
    package var presenter: String

    /// One line, for the service manager, to whom a line feed of the server's would begin another assignment.
    package var line: String {
        guard isEnrolled else { return "Not enrolled at any server." }
        let text = isConnected ? "Connected to \(serverURL)." : "Not connected to \(serverURL): \(lastError)"
        return DisplayText.plain(String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\n" ? " " : $0 })))
    }
}

extension Agent {
    /// How the agent is doing; `now` is the wall clock in UNIX seconds.
    package func status(nowUnixSeconds now: Int64) -> AgentStatus {
        AgentStatus(
            isEnrolled: identity != nil, serverURL: identity?.serverURL ?? "", deviceID: identity?.deviceID ?? "",
            isConnected: connectedSinceUnixSeconds != nil, connectedSinceUnixSeconds: connectedSinceUnixSeconds ?? 0,
            lastConnectedUnixSeconds: connectedSinceUnixSeconds == nil ? lastConnectedUnixSeconds ?? 0 : now,
            lastError: lastError, notice: notice,
            presenter: surroundings.presenter?.isAvailable == false ? "none" : surroundings.presenterName)
    }
}
