// SPDX-License-Identifier: Apache-2.0

/// The versions of the control data that a node knows and uses.
struct ControlVersions {
    /// The highest version that PostgreSQL or another node has named.
    private(set) var known: Int64 = 0
    /// The highest version that the node has read.
    private var used: Int64 = 0
    /// The last version in which data for checks of notifications changed.
    ///
    /// A move of slots raises the version without such a change.
    private var changed: Int64 = 0

    /// Whether the node has read the highest version that it knows.
    var areRead: Bool { used >= known }

    /// Records that there is a version.
    mutating func note(_ version: Int64) { known = max(known, version) }

    /// Records that the node uses a version.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - changed: The last version in which data for checks changed.
    mutating func use(_ version: Int64, changed: Int64) {
        note(version)
        used = max(used, version)
        self.changed = max(self.changed, changed)
    }

    /// Returns whether a check with an earlier version has the same result now; false if this is not known yet.
    func checkAlike(since version: Int64) -> Bool { version == known || areRead && changed <= version }
}
