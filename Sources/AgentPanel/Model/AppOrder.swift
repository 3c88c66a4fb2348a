// SPDX-License-Identifier: Apache-2.0

/// How apps follow one another, in lists and on the grid: by name, whatever its case, and apps of one name by id.
package enum AppOrder {
    /// Whether one stands before the other.
    package static func precedes(_ first: AppFacts, _ second: AppFacts) -> Bool {
        let (one, other) = (first.name.lowercased(), second.name.lowercased())
        return one == other ? first.id < second.id : one < other
    }
}
