// SPDX-License-Identifier: Apache-2.0

/// How apps follow one another, in lists and on the grid: by name, whatever its case, and apps of one name by id.
package enum AppOrder {
    /// Whether one stands before the other.
    package static func precedes(_ first: AppFacts, _ second: AppFacts) -> Bool {
        let (one, other) = (first.name.lowercased(), second.name.lowercased())
        return one == other ? first.id < second.id : one < other
    }

    /// Apps in the order in which they stand on the screen, and those that are new behind them: none moves under the hand.
    ///
    /// - Parameters:
    ///   - apps: In their own order.
    ///   - shown: Ids of those on the screen, in the order of the screen.
    /// - Returns: The same apps.
    package static func keeping(_ apps: [AppFacts], asShown shown: [String]) -> [AppFacts] {
        let places = Dictionary(zip(shown, shown.indices), uniquingKeysWith: { first, _ in first })
        let ranks = apps.enumerated().map { index, app in (places[app.id] ?? shown.count + index, app) }
        return ranks.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
