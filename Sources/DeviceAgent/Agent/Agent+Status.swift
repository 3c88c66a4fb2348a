// SPDX-License-Identifier: Apache-2.0

package import AgentBus
internal import AgentStore
internal import Glibc
internal import PushAPI
package import PushCore
internal import PushNet

extension StatusRecord {
    /// One line for the service manager.
    ///
    /// Line feeds become spaces, because each would begin another assignment.
    package var line: String {
        let text =
            switch (isEnrolled, isConnected) {
            case (true, true): "Connected to \(serverURL)."
            case (true, false) where problem == .wrongServer:
                "Not connected: \(serverURL) is not the server that this device was enrolled with (\(lastError))"
            case (true, false): "Not connected to \(serverURL): \(lastError)"
            case (false, _): lastError.isEmpty ? "Not enrolled with a server." : "Not enrolled: \(lastError)"
            }
        return DisplayText.plain(String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\n" ? " " : $0 })))
    }
}

extension Agent {
    /// Returns the agent's status; `now` is the wall clock.
    package func status(now: Timestamp) -> StatusRecord {
        var status = StatusRecord()
        status.version = ProductVersion.text
        status.processID = UInt32(clamping: getpid())
        status.isEnrolled = link.identity != nil
        status.serverURL = link.identity?.serverURL ?? ""
        status.deviceID = link.identity?.deviceID ?? ""
        status.isRemoved = link.isRemoved
        status.isConnected = link.connectedSince != nil
        status.connectedSince = link.connectedSince
        status.lastConnectedAt = link.connectedSince == nil ? link.lastConnectedAt : now
        status.nextTryAt = nextTry(now: now)
        status.problem = link.failure?.problem ?? .none
        status.lastError = link.failure?.text ?? ""
        status.notice = subscriptions.notice
        status.presenter = presenterText
        return status
    }

    private var presenterText: String {
        var names: [String] = []
        if environment.presenter?.isAvailable(for: .banner) ?? false { names.append(environment.presenterName) }
        if environment.panel?.isAvailable ?? false { names.append("panel") }
        if !names.isEmpty { return names.joined(separator: ", ") }
        return environment.hooks?.summary.map { "hooks: \($0)" } ?? "none"
    }

    /// Returns the time of the next attempt, rounded up by a second, so that the wait is over by then; nil for none.
    private func nextTry(now: Timestamp) -> Timestamp? {
        guard
            let due = link.identity == nil ? enrolmentDue : link.clients?.stream.connectsAt
        else { return nil }
        let rest = due.nanoseconds(since: loop.now)
        return rest > 0 ? now.advanced(bySeconds: rest / 1_000_000_000 + 1) : now
    }
}
