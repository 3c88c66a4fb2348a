// SPDX-License-Identifier: Apache-2.0

/// The last reported state of the lease of each shard.
struct LeaseReport {
    /// Whether the node holds the lease of each shard; nil before its first lease.
    private var states: [Bool?] = []

    /// Records the states of the leases; returns the shards whose state changed, except for first leases.
    mutating func note(_ held: [Bool]) -> [(shard: Int, isHeld: Bool)] {
        if states.isEmpty { states = held.map { _ in nil } }
        var changes: [(shard: Int, isHeld: Bool)] = []
        for (shard, isHeld) in held.enumerated() where states[shard] != isHeld {
            if states[shard] != nil {
                changes.append((shard, isHeld))
            } else if !isHeld {
                continue
            }
            states[shard] = isHeld
        }
        return changes
    }
}
