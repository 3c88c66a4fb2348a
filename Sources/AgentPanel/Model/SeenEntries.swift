// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Decides which notifications the user has seen: those that were on the screen for long enough.
struct SeenEntries {
    /// The time for which a notification must be on the screen, in an active window.
    static let viewingTime = Duration.milliseconds(500)

    /// The unread entries on the screen, each with the time at which it appeared there.
    private var appearances: [Int64: MonotonicTime] = [:]
    private var seen: Set<Int64> = []

    /// Takes the entries that are on the screen now; an entry that leaves early starts again when it returns.
    ///
    /// - Parameters:
    ///   - visible: The unread entries on the screen; empty while the window is inactive.
    ///   - now: The current time.
    /// - Returns: The time until the next entry counts as seen; nil if no entry waits for that.
    mutating func update(visible: Set<Int64>, now: MonotonicTime) -> Duration? {
        for (entry, start) in appearances where start.advanced(by: Self.viewingTime) <= now { seen.insert(entry) }
        appearances = appearances.filter { visible.contains($0.key) && !seen.contains($0.key) }
        for entry in visible where !seen.contains(entry) && appearances[entry] == nil { appearances[entry] = now }
        return appearances.values.min().map { $0.advanced(by: Self.viewingTime).duration(since: now) }
    }

    /// Returns the entries that were seen since the last call, in ascending order.
    mutating func take() -> [Int64] {
        defer { seen = [] }
        return seen.sorted()
    }
}
