// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

extension PanelScene {
    /// The time after which a notification on the screen counts as seen, and some more.
    private static let viewingTime = Duration.milliseconds(700)

    /// Views the list until what is on the screen counts as seen, and leaves it, until the list's tab has a name.
    func viewList(untilTabIs name: String) async throws {
        try await wait("the tab is '\(name)'") { contents in
            if contents.first("tab", name) != nil { return true }
            try await press("ctrl+1")
            // Nothing on the screen shows when this time is over.
            try await Task.sleep(for: Self.viewingTime)
            try await press("ctrl+2")
            return false
        }
    }
}
