// SPDX-License-Identifier: Apache-2.0

/// Which alert is on the screen: the oldest that waits, one at a time.
///
///     nothing ──alerts──▶ showing ──answered──▶ nothing until the agent says what waits now
package struct AlertQueue: Equatable, Sendable {
    /// What to do with the window.
    package enum Step: Equatable, Sendable {
        /// It is right as it is.
        case nothing
        /// Show this alert, in the place of what is there.
        case show(AlertFacts)
        /// Take the window down: the alert ended otherwise.
        case takeDown
    }

    /// The alert on the screen.
    package private(set) var shown: AlertFacts?
    /// Answered, and perhaps still in what the agent says next.
    private var answered: Set<Int64> = []

    /// Begins with nothing on the screen.
    package init() {}

    /// Takes what waits now, oldest first.
    ///
    /// - Parameters:
    ///   - alerts: What the agent has in its list.
    ///   - isWriting: Whether the person writes a reply: then the window stays until it is sent or closed, even if a newer
    ///     alert has taken its place in the list, and the agent takes the reply.
    /// - Returns: What to do with the window.
    package mutating func take(_ alerts: [AlertFacts], isWriting: Bool) -> Step {
        let waiting = alerts.filter { !answered.contains($0.entry) }
        // What the agent has forgotten need not be remembered here.
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

    /// Notes that the alert on the screen was answered; its number, or nil for the second press of two.
    package mutating func answer() -> Int64? {
        guard let entry = shown?.entry else { return nil }
        answered.insert(entry)
        shown = nil
        return entry
    }
}
