// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore

@testable import PushCluster

/// A shard in memory, whose statements of one batch are executed one after the other with random delays.
///
/// A fail-over loses the changes that were committed without waiting and that no synchronous commit followed.
final class SimulatedShard {
    private struct Identity: Hashable {
        var device: DeviceID
        var key: RowKey
    }

    private typealias Part = (isSynchronous: Bool, execute: (Double) -> Void)

    private struct Row {
        var id: Int64
        var notification: Notification
        var expiresAt: Timestamp?
    }

    unowned let simulation: Simulation
    private var rows: [Identity: Row] = [:]
    private var hosts: [DeviceID: (instance: InstanceID, epoch: Int64)] = [:]
    /// The rows that the present rows of `hosts` have replaced.
    private var earlierHosts: [DeviceID: (instance: InstanceID, epoch: Int64)] = [:]
    private var changes: [DeviceID] = []
    private struct Node {
        var instance: InstanceID
        /// The shard's time in milliseconds at the last heartbeat.
        var seenAt: Double
        var heardTransaction: Int64 = 0
        var idCeiling: Int64 = 0
    }

    private var nodes: [NodeNumber: Node] = [:]
    var channels = SimulatedChannels()
    /// The nodes that an administrator drains.
    private var draining: Set<Int> = []
    /// The ways back of the changes that a fail-over may lose.
    private var reversals: [(at: Double, undo: () -> Void)] = []
    /// The time at which the current fail-over ends; nil without one.
    private var pauseEnd: Double?
    private var pauseStart = 0.0
    private(set) var failOverCount = 0
    /// The time until which no standby confirms a commit.
    private var stallEnd = 0.0

    init(_ simulation: Simulation) { self.simulation = simulation }

    var isAvailable: Bool { pauseEnd == nil }
    /// The number of rows that are left.
    var rowCount: Int { rows.count }

    /// Registers a new start of a node.
    func register(_ instance: InstanceID) {
        nodes[instance.node] = Node(instance: instance, seenAt: shardTime(at: simulation.now))
    }

    /// Returns the shard's time in milliseconds.
    private func shardTime(at moment: Double) -> Double { moment + Double(simulation.clock.shardAhead) / 1_000 }

    /// Lets a node send its devices away, or take devices again.
    func setDraining(_ node: SimulatedNode, _ isDraining: Bool) {
        if isDraining { draining.insert(node.number) } else { draining.remove(node.number) }
    }

    // MARK: Fail-over

    /// Ends all connections, and loses what no standby has.
    func failOver(pauseMilliseconds: Double) {
        guard pauseEnd == nil else { return }
        failOverCount += 1
        pauseStart = simulation.now
        pauseEnd = simulation.now + pauseMilliseconds
        for (at, undo) in reversals.reversed() where at > simulation.now - 600 { undo() }
        reversals = []
        for node in simulation.nodes where !simulation.options.hidesFailover {
            simulation.after(simulation.chance(upTo: 50)) { node.disconnected() }
        }
        simulation.after(pauseMilliseconds) {
            self.pauseEnd = nil
            for node in self.simulation.nodes where !self.simulation.options.hidesFailover {
                self.simulation.after(self.simulation.chance(upTo: 300)) { node.connectIfNeeded() }
            }
        }
    }

    /// Lets synchronous commits wait for a time, in which other transactions do not see their changes.
    func stall(milliseconds: Double) { stallEnd = max(stallEnd, simulation.now + milliseconds) }

    // MARK: Batches

    /// Executes a batch; calls the closure with its result, or never when the connection is lost meanwhile.
    func execute(
        _ batch: ShardBatch, of instance: InstanceID, _ answer: @escaping (ShardResult) -> Void
    ) {
        let result = Result()
        // The argument of a part is the time at which the part was executed, perhaps long before its commit.
        var parts: [Part] = []
        if let heartbeat = batch.heartbeat {
            parts.append((true, { result.value.heartbeat = self.beat(heartbeat, instance, at: $0) }))
        }
        if !batch.departures.isEmpty { parts.append((false, { _ in self.depart(batch.departures) })) }
        if !batch.deletions.isEmpty || !batch.acknowledgements.isEmpty {
            parts.append((false, { _ in self.delete(batch.deletions, batch.acknowledgements) }))
        }
        if !batch.skips.isEmpty { parts.append((false, { _ in self.skip(batch.skips) })) }
        if !batch.attachments.isEmpty {
            parts.append(
                (
                    false,
                    { _ in result.value.attachments = batch.attachments.map { self.attach($0, instance) } }
                ))
        }
        if !batch.readings.isEmpty {
            parts.append((false, { _ in result.value.readings = batch.readings.map(self.read) }))
        }
        if !batch.writes.isEmpty {
            parts.append(
                (
                    true,
                    { _ in
                        result.value.replaced = self.replaced(by: batch)
                        result.value.writes = batch.writes.map(self.write)
                    }
                ))
        }
        if !batch.changes.isEmpty {
            parts.append((true, { _ in result.value.announcement = self.announce(batch.changes) }))
        }

        if !batch.looks.isEmpty { parts.append((false, { _ in self.look(batch, &result.value) })) }
        run(parts[...], simulation.choice([0.3, 1, 3, 10]) * (0.5 + simulation.chance())) { answer(result.value) }
    }

    private final class Result {
        var value = ShardResult()
    }

    private func run(
        _ parts: ArraySlice<Part>, _ delay: Double, executedAt: Double? = nil, _ answer: @escaping () -> Void
    ) {
        let connection = failOverCount
        simulation.after(delay) { [self] in
            // The commit was still waiting when the connection was lost.
            guard executedAt == nil || connection == failOverCount else { return }
            guard let (isSynchronous, execute) = parts.first else { return answer() }
            let executedAt = executedAt ?? simulation.now
            if let end = pauseEnd {
                // The part may have been committed and replicated before its answer was lost.
                if simulation.now < pauseStart + 10, simulation.chance() < 0.5 { execute(executedAt) }
                guard simulation.options.hidesFailover else { return }
                return run(parts, end - simulation.now + simulation.chance(upTo: 300), answer)
            }
            if isSynchronous, simulation.now < stallEnd {
                let delay = stallEnd - simulation.now + simulation.chance(upTo: 5)
                return run(parts, delay, executedAt: executedAt, answer)
            }
            execute(executedAt)
            if isSynchronous { commit() }
            run(parts.dropFirst(), simulation.choice([0.1, 0.3, 1, 5]) * (0.5 + simulation.chance()), answer)
        }
    }

    // MARK: Statements

    func keepWayBack(_ undo: @escaping () -> Void) { reversals.append((simulation.now, undo)) }

    /// Commits synchronously, so that no fail-over loses what was committed before.
    func commit() { reversals = [] }

    private func depart(_ departures: [ShardBatch.Departure]) {
        for departure in departures {
            guard let host = hosts[departure.device], host.epoch == departure.epoch else { continue }
            hosts[departure.device]?.instance = InstanceID(rawValue: 0)
            keepWayBack { [unowned self] in hosts[departure.device] = host }
        }
    }

    private func delete(_ deletions: [RowReference], _ acknowledgements: [ShardBatch.Acknowledgement]) {
        for deletion in deletions {
            remove(Identity(device: deletion.device, key: deletion.key), id: deletion.id)
        }
        for acknowledgement in acknowledgements {
            for (identity, row) in rows where identity.device == acknowledgement.device && row.id == acknowledgement.id
            {
                remove(identity, id: row.id)
            }
        }
    }

    private func remove(_ identity: Identity, id: Int64) {
        guard let row = rows[identity], row.id == id else { return }
        rows[identity] = nil
        keepWayBack { [unowned self] in if rows[identity] == nil { rows[identity] = row } }
    }

    private func attach(_ attachment: ShardBatch.Attachment, _ instance: InstanceID) -> ShardResult.Attachment {
        let earlier = hosts[attachment.device]
        if let earlier, earlier.epoch > attachment.epoch { return .replaced(by: host(earlier)) }
        if earlier?.epoch == attachment.epoch {
            return .attached(earlier: earlierHosts[attachment.device].map(host))
        }
        let beforeEarlier = earlierHosts[attachment.device]
        (hosts[attachment.device], earlierHosts[attachment.device]) = ((instance, attachment.epoch), earlier)
        keepWayBack { [unowned self] in
            guard hosts[attachment.device]?.epoch == attachment.epoch else { return }
            (hosts[attachment.device], earlierHosts[attachment.device]) = (earlier, beforeEarlier)
        }
        return .attached(earlier: earlier.map(host))
    }

    private func host(_ row: (instance: InstanceID, epoch: Int64)) -> ShardResult.Host {
        let node = nodes[row.instance.node]
        let isLive =
            node?.instance == row.instance && node?.seenAt ?? -.infinity > shardTime(at: simulation.now) - 3_000
        return .init(instance: row.instance, epoch: row.epoch, isLive: isLive)
    }

    private func read(_ reading: ShardBatch.Reading) -> ShardResult.Reading {
        let waiting = rows.filter { $0.key.device == reading.device && !reading.known.contains($0.value.id) }
            .sorted { $0.value.id < $1.value.id }
        let registration = RegistrationState(
            generation: 1, isLive: true, isRefused: false, endedAt: nil, hasExpired: false)
        return ShardResult.Reading(
            rows: waiting.prefix(4).map { identity, row in
                .init(
                    key: identity.key, id: row.id, topic: row.notification.address.topic, expiresAt: row.expiresAt,
                    notification: row.notification)
            }, isMore: waiting.count > 4,
            account: reading.isFull
                ? .init(
                    registrations: [(TopicID(rawValue: 1), registration)],
                    subscriptions: subscriptions(of: reading.device)) : nil)
    }

    private func replaced(by batch: ShardBatch) -> [ShardResult.Replaced] {
        guard batch.reportsReplaced else { return [] }
        return batch.writes.filter(\.key.isCollapsible).compactMap { write in
            let address = write.pending.notification.address
            return rows[Identity(device: address.device, key: write.key)].map {
                .init(device: address.device, key: write.key, id: $0.id, topic: address.topic)
            }
        }
    }

    private func write(_ write: ShardBatch.Write) -> ShardResult.Write {
        let identity = Identity(device: write.pending.notification.address.device, key: write.key)
        let (known, new) = (rows[identity], write.pending.sequence)
        if let known, known.id >= new { return .written }
        rows[identity] = Row(id: new, notification: write.pending.notification, expiresAt: write.expiresAt)
        return .written
    }

    private func announce(_ devices: [DeviceID]) -> Int64 {
        changes += devices
        return Int64(changes.count - 1)
    }

    private func beat(
        _ heartbeat: ShardBatch.Heartbeat, _ instance: InstanceID, at moment: Double
    ) -> ShardResult.Heartbeat {
        let isTaken = nodes[instance.node]?.instance != instance
        let time = shardTime(at: moment)
        if !isTaken {
            nodes[instance.node] = Node(
                instance: instance, seenAt: time, heardTransaction: heartbeat.leastTransaction,
                idCeiling: heartbeat.idCeiling)
        }
        let new = changes.enumerated().dropFirst(Int(heartbeat.leastTransaction))
        return ShardResult.Heartbeat(
            isTaken: isTaken, time: SimulatedClock.shardStart + Int64(time * 1_000), controlVersion: 0,
            changes: new.map { .init(position: Int64($0.offset), device: $0.element) },
            nodes: nodes.values.sorted { $0.instance.rawValue < $1.instance.rawValue }.map {
                .init(
                    instance: $0.instance, isLive: $0.seenAt > time - 3_000, heardTransaction: $0.heardTransaction,
                    idCeiling: $0.idCeiling, draining: draining.contains($0.instance.node.rawValue) ? .draining : .no)
            }, broadcasts: storedBroadcasts(from: heartbeat.leastBroadcast).map(\.pending.sequence),
            leastUnendedTransaction: Int64(changes.count))
    }

    private func look(_ batch: ShardBatch, _ result: inout ShardResult) {
        let written = Set(batch.writes.map(\.pending.notification.address.device))
        result.looks = batch.looks.map { device in
            simulation.options.hidesHosts && written.contains(device) ? nil : hosts[device].map(host)
        }
        result.lookedAt = simulation.clock.shardTime
    }
}
