// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// The order of apps in lists and on the grid: by name without regard to case, then by ID.
enum AppOrder {
    /// Returns whether one app precedes the other.
    static func precedes(_ first: AppRecord, _ second: AppRecord) -> Bool {
        let (one, other) = (first.appTitle.lowercased(), second.appTitle.lowercased())
        return one == other ? first.appID < second.appID : one < other
    }

    /// Keeps apps at their places on the screen and appends new ones, so that no icon moves under the pointer.
    ///
    /// - Parameters:
    ///   - apps: The apps in their regular order.
    ///   - shown: The IDs of the apps on the screen, in screen order.
    /// - Returns: The apps in the new order.
    static func keeping(_ apps: [AppRecord], asShown shown: [String]) -> [AppRecord] {
        let places = Dictionary(zip(shown, shown.indices), uniquingKeysWith: { first, _ in first })
        let ranks = apps.enumerated().map { index, app in (places[app.appID] ?? shown.count + index, app) }
        return ranks.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
