// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit
internal import PushNet

/// Follows which unread notifications are on the screen, and collects those that the user has seen.
final class SeenTracker {
    /// The delay after a change, in which GTK lays the rows out.
    private static let layoutMilliseconds: UInt32 = 50

    private var entries = SeenEntries()
    private let visible: () -> Set<Int64>
    private var isScheduled = false
    private var timer: MainLoop.Source?

    /// Creates a tracker.
    ///
    /// - Parameter visible: Returns the unread entries on the screen; none while the window is inactive.
    init(visible: @escaping () -> Set<Int64>) { self.visible = visible }

    /// Checks the screen soon, after a change of what may be on it.
    func noteChange() {
        guard !isScheduled else { return }
        isScheduled = true
        MainLoop.after(milliseconds: Self.layoutMilliseconds) { [weak self] in
            self?.isScheduled = false
            self?.check()
        }
    }

    /// Returns the entries that were seen since the last call.
    func take() -> [Int64] {
        check()
        return entries.take()
    }

    private func check() {
        timer?.cancel()
        let due = entries.update(visible: visible(), now: .now)
        timer = due.map { due in
            let milliseconds = due.components.seconds * 1000 + due.components.attoseconds / 1_000_000_000_000_000
            return MainLoop.after(milliseconds: UInt32(clamping: milliseconds + 1)) { [weak self] in
                self?.timer = nil
                self?.check()
            }
        }
    }
}
