// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

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
    /// When it connects or enrols again, UNIX seconds; 0 while it waits for nothing.
    package var nextTryUnixSeconds: Int64 = 0
    /// What is wrong with the connection; empty for nothing.
    package var lastError: String
    /// What else a person should know, such as a channel that the server ended; empty for nothing.
    package var notice = ""
    /// Whether the server said that it does not know this device any more.
    package var isRemoved = false
    /// What alerts are shown with: `desktop`, `panel`, `desktop, panel`, `terminal`, `hooks:` and their names, or `none`; the
    /// last two also while neither notification server nor panel is there.
    package var presenter: String

    /// One line, for the service manager, to whom a line feed of the server's would begin another assignment.
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
    /// How the agent is doing; `now` is the wall clock in UNIX seconds.
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

    /// Rounded up, so that it is over by then.
    private func nextTry(nowUnixSeconds now: Int64) -> Int64 {
        guard let due = identity == nil ? enrolmentDueNanoseconds : link?.stream.connectsAtNanoseconds else { return 0 }
        let elapsed = loop.monotonicNanoseconds
        return due > elapsed ? now + Int64((due - elapsed) / 1_000_000_000) + 1 : now
    }
}
