// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A fault of a random run, with its place, its duration and its end.
struct RandomClusterFault {
    enum Kind: CaseIterable {
        case nodeKilled, nodeStopped, nodeDrained
        case standbyKilled, standbyStopped
        case primaryKilled, primaryStopped, primaryReplacedAlive, switchover, clockSet
        case shardKilled, shardStopped, shardDiskFull, slotsMoved
        case linkCut, linkCutOneWay, nodeCutFromNodes, nodeCutFromPostgres, nodeCutFromAll
        case everythingKilled
        case keyRevoked, appRemoved

        /// The kinds that can happen at a site; only root can fill a disk.
        static func possible(at site: ClusterSite) -> [Self] {
            allCases.filter { $0 != .shardDiskFull || site.extras?.disk != nil }
        }
    }

    var kind: Kind
    var node: Int
    var otherNode: Int
    /// The index among the two standbys.
    let standby: Int
    let duration: Duration
    /// The time until a standby is promoted.
    let decision: Duration
    let resets: Bool
    let turns: Bool
    /// The difference of a wrong clock; above 30 seconds, nodes are suspended.
    let clockSeconds: Int
    let slotCount: Int
    /// The fault that happens while slots move.
    let disturbance: Kind?

    /// Draws everything but the kind.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - secondsMax: The maximum duration of a fault; some are longer than leases, others shorter.
    ///   - generator: The source of random numbers.
    init(_ kind: Kind, secondsMax: Double, using generator: inout some RandomNumberGenerator) {
        self.kind = kind
        node = Int.random(in: 0..<3, using: &generator)
        otherNode = (node + Int.random(in: 1...2, using: &generator)) % 3
        standby = Int.random(in: 0..<2, using: &generator)
        duration = .milliseconds(Int(Double.random(in: 0.1...secondsMax, using: &generator) * 1000))
        decision = .milliseconds(Int.random(in: 0...3000, using: &generator))
        resets = Bool.random(using: &generator)
        turns = Bool.random(using: &generator)
        clockSeconds = Int.random(in: 1...40, using: &generator) * (turns ? 1 : -1)
        slotCount = Int.random(in: 1...200, using: &generator)
        disturbance =
            [
                nil, .nodeKilled, .nodeStopped, .nodeCutFromPostgres, .nodeCutFromAll, .primaryKilled, .shardKilled,
            ].randomElement(using: &generator) ?? nil
    }

    /// Causes the fault at a site, and ends it.
    func run(at site: ClusterSite) async throws {
        switch kind {
        case .nodeKilled:
            try await site.kill(node: node)
            try await pass()
            try await site.start(node: node)
        case .nodeStopped:
            try await site.freeze(node: node)
            try await pass()
            try await site.thaw(node: node)
        case .nodeDrained: try await drain(at: site)
        case .standbyKilled, .standbyStopped, .primaryKilled, .primaryStopped, .primaryReplacedAlive, .switchover,
            .everythingKilled:
            try await runOfPostgres(at: site)
        case .linkCut, .linkCutOneWay, .nodeCutFromNodes, .nodeCutFromPostgres, .nodeCutFromAll:
            try await site.cut(directions)
            try await pass()
            try await site.heal(directions, resets: resets)
        case .keyRevoked: try await site.revokeKey(at: node)
        case .appRemoved: try await site.removeApp(at: node)
        case .clockSet, .shardKilled, .shardStopped, .shardDiskFull, .slotsMoved:
            if let extras = site.extras { try await run(at: site, extras) }
        }
    }

    /// Drains a node; then stops and starts it, or interrupts the drain.
    private func drain(at site: ClusterSite) async throws {
        let isWhole = turns && duration > .seconds(4)
        try await site.drain(node: node, atMost: isWhole ? .seconds(90) : duration)
        if isWhole {
            try await site.stop(node: node)
            try await site.start(node: node)
        }
        try await site.undrain(node: node)
    }

    private func runOfPostgres(at site: ClusterSite) async throws {
        switch kind {
        case .standbyKilled:
            let server = site.standbys[standby]
            try await site.kill(server: server)
            try await pass()
            try await site.start(server: server)
            try await site.trio.waitForStandbys(2, of: site.primary)
        case .standbyStopped:
            let server = site.standbys[standby]
            try await site.freeze(server: server)
            try await pass()
            try await site.thaw(server: server)
            try await site.trio.waitForStandbys(2, of: site.primary)
        case .primaryKilled:
            try await site.kill(server: site.primary)
            try await Task.sleep(for: decision)
            let former = try await site.promoteRightStandby()
            try await pass()
            try await site.rejoin(server: former)
        case .switchover:
            let former = try await site.switchOver()
            try await pass()
            try await site.rejoin(server: former)
        case .primaryStopped:
            let server = site.primary
            try await site.freeze(server: server)
            try await pass()
            try await site.thaw(server: server)
            try await site.trio.waitForStandbys(2, of: server)
        case .primaryReplacedAlive:
            let server = site.primary
            try await site.freeze(server: server)
            try await Task.sleep(for: decision)
            let former = try await site.promoteRightStandby()
            try await site.thaw(server: former)
            try await pass()
            try await site.kill(server: former)
            try await site.rejoin(server: former)
        case .everythingKilled:
            try await site.killEverything()
            _ = try await site.startEverything()
        default: preconditionFailure("\(kind) is no fault of PostgreSQL")
        }
    }

    private var directions: [[String]] {
        let (name, other) = (ClusterSite.names[node], ClusterSite.names[otherNode])
        switch kind {
        case .linkCut: return ClusterSite.directions(name, other)
        case .linkCutOneWay: return [[name, other]]
        case .nodeCutFromNodes: return ClusterSite.directions(ofNode: node)
        case .nodeCutFromPostgres:
            let both = ClusterSite.directionsToDatabase(ofNode: node)
            return turns ? both : [both[1]]
        case .nodeCutFromAll:
            return ClusterSite.directions(ofNode: node) + ClusterSite.directionsToDatabase(ofNode: node)
        default: return []
        }
    }

    func pass() async throws { try await Task.sleep(for: duration) }
}
