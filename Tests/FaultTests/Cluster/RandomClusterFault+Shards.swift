// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// Faults of shard 1, moves of slots, and a wrong clock.
extension RandomClusterFault {
    func run(at site: ClusterSite, _ extras: ClusterExtras) async throws {
        switch kind {
        case .slotsMoved: try await moveSlots(at: site)
        case .shardKilled:
            try await site.note("kill shard 1")
            try await extras.shard.kill()
            try await pass()
            try await extras.shard.start()
            try await site.note("shard 1 serves")
        case .shardStopped:
            try await site.note("stop shard 1")
            try extras.shard.send(SIGSTOP)
            try await pass()
            try extras.shard.send(SIGCONT)
            try await site.note("continue shard 1")
        case .shardDiskFull:
            guard let disk = extras.disk else { preconditionFailure("\(kind) needs a disk of its own") }
            try await site.note("fill the disk of shard 1")
            try disk.fill()
            try await pass()
            try disk.free()
            // PostgreSQL has ended if its log was full.
            try await extras.shard.stop()
            try await extras.shard.start()
            try await site.note("shard 1 has space")
        case .clockSet:
            try await set(extras.databaseClock, at: site)
            try await site.trio.waitForStandbys(2, of: site.primary)
        default: preconditionFailure("\(kind) does not need the extras of a site")
        }
    }

    /// Moves slots, and causes another fault meanwhile.
    private func moveSlots(at site: ClusterSite) async throws {
        async let answer = site.moveSlots(slotCount, to: turns ? 1 : 0, at: node)
        try await Task.sleep(for: decision / 3)
        if let disturbance {
            var other = self
            other.kind = disturbance
            // The other fault affects the node that moves the slots, or another node.
            if resets { (other.node, other.otherNode) = (otherNode, node) }
            try await other.run(at: site)
        }
        try await site.note("move of slots: \(answer)")
    }

    private func set(_ clock: FakeClock, at site: ClusterSite) async throws {
        let offset = clockSeconds < 0 ? "\(clockSeconds)" : "+\(clockSeconds)"
        try await site.note("set the clock of PostgreSQL to \(offset) s")
        try clock.jump(to: offset)
        try await pass()
        try clock.jump(to: "+0")
        try await site.note("the clock of PostgreSQL is right")
    }
}
