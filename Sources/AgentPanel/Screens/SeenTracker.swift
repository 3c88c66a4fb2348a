// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit
internal import PushNet

/// Follows which unread notifications are on the screen, and collects those that the user has seen.
final class SeenTracker {
    private var entries = SeenEntries()
    private let visible: () -> Set<Int64>
    private let afterLayout: (@escaping () -> Void) -> Void
    private var isScheduled = false
    private var timer: MainLoop.Source?

    /// Creates a tracker.
    ///
    /// - Parameters:
    ///   - visible: Returns the unread entries on the screen; none while the window is inactive.
    ///   - afterLayout: Calls its argument once, when the rows have their places on the screen.
    init(visible: @escaping () -> Set<Int64>, afterLayout: @escaping (@escaping () -> Void) -> Void) {
        self.visible = visible
        self.afterLayout = afterLayout
    }

    /// Checks the screen soon, after a change of what may be on it.
    func noteChange() {
        guard !isScheduled else { return }
        isScheduled = true
        afterLayout { [weak self] in
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
