// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// Selects the alert on the screen: the oldest one that waits, one at a time.
///
///     nothing ──alerts──▶ showing ──answered──▶ nothing, until the agent lists the waiting alerts again
struct AlertQueue: Equatable, Sendable {
    /// The change that the window needs.
    enum Step: Equatable, Sendable {
        case nothing
        /// Show this alert and replace the current one.
        case show(AlertRecord)
        /// Close the window, because the alert ended without an answer here.
        case takeDown
    }

    private(set) var shown: AlertRecord?
    /// The answered alerts that the agent's list may still contain.
    private var answered: Set<Int64> = []

    init() {}

    /// Processes the agent's list of waiting alerts.
    ///
    /// - Parameters:
    ///   - alerts: The list, oldest first.
    ///   - isWriting: Whether the user writes a reply. The window then stays until the reply is sent or closed, even if
    ///     a newer alert replaced this one in the list. The agent still accepts the reply.
    /// - Returns: The change that the window needs.
    mutating func take(_ alerts: [AlertRecord], isWriting: Bool) -> Step {
        let waiting = alerts.filter { !answered.contains($0.entry) }
        // An alert that the agent no longer lists need not be remembered.
        answered.formIntersection(alerts.map(\.entry))
        if let shown, let same = waiting.first(where: { $0.entry == shown.entry }) {
            guard same != shown else { return .nothing }
            self.shown = same
            return .show(same)
        }
        if shown != nil, isWriting { return .nothing }
        let hadWindow = shown != nil
        shown = waiting.first
        if let shown { return .show(shown) }
        return hadWindow ? .takeDown : .nothing
    }

    /// Records that the alert was answered; returns its number, or nil for the second press of a double click.
    mutating func answer() -> Int64? {
        guard let entry = shown?.entry else { return nil }
        answered.insert(entry)
        shown = nil
        return entry
    }
}
