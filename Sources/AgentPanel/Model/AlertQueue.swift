// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// Selects the alert on the screen: the oldest one that waits, one at a time.
///
///     nothing ──alerts──▶ showing ──answered──▶ showing the next one, or nothing
///
/// The alerts that are answered one after the other, without a time when none waits, form a series.
struct AlertQueue: Equatable, Sendable {
    /// The change that the window needs.
    enum Step: Equatable, Sendable {
        case nothing
        /// Show this alert and replace the current one.
        case show(AlertRecord)
        /// Close the window, because the alert ended without an answer here.
        case takeDown
    }

    /// The place of the alert on the screen in its series.
    struct Position: Equatable, Sendable {
        /// The number of the alert, from 1.
        var number = 1
        /// The number of alerts in the series; more alerts may arrive.
        var count = 1
    }

    private(set) var shown: AlertRecord?
    /// The answered alerts that the agent's list may still contain.
    private var answered: Set<Int64> = []
    /// The unanswered alerts behind the one on the screen, oldest first.
    private var others: [Int64] = []
    /// The number of alerts of the series that were answered.
    private var answeredCount = 0

    init() {}

    /// The position of the alert on the screen.
    var position: Position { Position(number: answeredCount + 1, count: answeredCount + 1 + others.count) }

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
        let step = step(for: waiting, isWriting: isWriting)
        others = waiting.map(\.entry).filter { $0 != shown?.entry }
        if shown == nil { answeredCount = 0 }
        return step
    }

    private mutating func step(for waiting: [AlertRecord], isWriting: Bool) -> Step {
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
        answeredCount += 1
        shown = nil
        return entry
    }

    /// Records that the alert on the screen and all others that wait were answered; returns their numbers.
    mutating func answerAll() -> [Int64] {
        guard let entry = answer() else { return [] }
        answered.formUnion(others)
        return [entry] + others
    }
}
