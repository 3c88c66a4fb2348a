// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet

/// The state of the agent and of its connection.
package struct AgentStatus: Sendable, Equatable {
    package var version = ProductVersion.text
    package var isEnrolled: Bool
    /// The server's URL; empty while not enrolled.
    package var serverURL: String
    /// The device ID; empty while not enrolled.
    package var deviceID: String
    package var isConnected: Bool
    /// Start of the connection in UNIX seconds; 0 while not connected.
    package var connectedSinceUnixSeconds: Int64
    /// Time of the last connection in UNIX seconds; 0 if there was none.
    package var lastConnectedUnixSeconds: Int64
    /// Time of the next attempt to connect or enrol in UNIX seconds; 0 if none is scheduled.
    package var nextTryUnixSeconds: Int64 = 0
    /// The connection's error; empty for none.
    package var lastError: String
    /// Other news for the user, such as a channel that the server ended; empty for none.
    package var notice = ""
    /// Whether the server has removed this device.
    package var isRemoved = false
    /// The presenters in use: `desktop`, `panel`, `desktop, panel`, `terminal`, `hooks:` with their names, or `none`.
    ///
    /// `hooks:` and `none` also mean that neither a notification server nor a panel is available.
    package var presenter: String

    /// One line for the service manager.
    ///
    /// Line feeds become blanks, because each would begin another assignment.
    package var line: String {
        let text =
            switch (isEnrolled, isConnected) {
            case (true, true): "Connected to \(serverURL)."
            case (true, false): "Not connected to \(serverURL): \(lastError)"
            case (false, _): lastError.isEmpty ? "Not enrolled at any server." : "Not enrolled: \(lastError)"
            }
        return DisplayText.plain(String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\n" ? " " : $0 })))
    }
}

extension Agent {
    /// Returns the agent's status; `now` is the wall clock in UNIX seconds.
    package func status(nowUnixSeconds now: Int64) -> AgentStatus {
        AgentStatus(
            isEnrolled: identity != nil, serverURL: identity?.serverURL ?? "", deviceID: identity?.deviceID ?? "",
            isConnected: connectedSinceUnixSeconds != nil, connectedSinceUnixSeconds: connectedSinceUnixSeconds ?? 0,
            lastConnectedUnixSeconds: connectedSinceUnixSeconds == nil ? lastConnectedUnixSeconds ?? 0 : now,
            nextTryUnixSeconds: nextTry(nowUnixSeconds: now), lastError: lastError, notice: notice,
            isRemoved: isRemoved, presenter: presenterText)
    }

    private var presenterText: String {
        var names: [String] = []
        if surroundings.presenter?.isAvailable(for: .banner) ?? false { names.append(surroundings.presenterName) }
        if surroundings.panel?.isAvailable ?? false { names.append("panel") }
        if !names.isEmpty { return names.joined(separator: ", ") }
        return surroundings.hooks?.summary.map { "hooks: \($0)" } ?? "none"
    }

    /// Returns the time of the next attempt in UNIX seconds, rounded up, so that the wait is over by then; 0 for none.
    private func nextTry(nowUnixSeconds now: Int64) -> Int64 {
        guard let due = identity == nil ? enrolmentDueNanoseconds : link?.stream.connectsAtNanoseconds else { return 0 }
        let elapsed = loop.monotonicNanoseconds
        return due > elapsed ? now + Int64((due - elapsed) / 1_000_000_000) + 1 : now
    }
}
