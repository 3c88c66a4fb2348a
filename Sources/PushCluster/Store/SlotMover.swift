// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

/// Moves slots and their devices from shard to shard, on the connections of one worker.
///
/// The file docs/decisions/0052-shards.md describes the protocol. After each change of the assignment, all nodes
/// confirm it before the next step.
struct SlotMover {
    /// A step of a move.
    enum Step: Sendable {
        /// Marks slots as moving; when all nodes have confirmed this, no node changes their devices.
        case begin(to: Int, count: Int)
        /// Copies the slots of a move, and assigns them to the shard; `rest` more slots move there afterwards.
        case copy(move: Int64, to: Int, rest: Int)
        /// Ends a move whose node has stopped, or that failed on this node.
        case finish
        /// Moves late notifications from former shards, and after a minute deletes the other rows there.
        case clean
    }

    /// The outcome of a step.
    enum Outcome: Sendable {
        case next(Step)
        case done
        case refused(StoreRefusal)
        /// PostgreSQL returned an error; `finish` must end a move that has begun.
        case failed(StoreRefusal)
    }

    /// The number of slots whose devices wait at the same time.
    private static let slotsPerMoveCountMax = 16
    /// The time after a move for which the former shard keeps the rows of the devices, in milliseconds.
    private static let leftoverMilliseconds: Int64 = 60_000
    /// The time for which a move waits for requests that change its tables; after that, the move is cancelled.
    private static let lockTimeout = "5s"
    /// The key of the advisory lock for cleaning: `Clean` in ASCII.
    private static let lockKey: Int64 = 0x43_6c65_616e

    let connections: ShardConnections
    let instance: InstanceID

    /// Makes a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - changed: Called when the stored assignment of slots has changed.
    /// - Returns: The outcome.
    /// - Throws: The error that PostgreSQL returned. The caller must then end a move that has begun, with `finish`.
    func perform(_ step: Step, changed: () throws(SQLError) -> Void) throws(SQLError) -> Outcome {
        let control = try connections.connection(toShard: 0)
        switch step {
        case .begin(let target, let count):
            guard (0..<connections.shardCount).contains(target) else { return .refused(.unknownShard) }
            guard try hasAllNodes(target, control) else { return .refused(.shardNotEverywhere) }
            switch try mark(for: target, count, control) {
            case .failure(let refusal): return .refused(refusal)
            case .success((0, _)): return .done
            case .success(let (marked, move)):
                try changed()
                return .next(.copy(move: move, to: target, rest: count - marked))
            }
        case .copy(let move, let target, let rest):
            for (source, slots) in try slots(of: move, control) { try copy(slots, from: source, to: target, move) }
            let isMoved = try end(move, control)
            try changed()
            guard isMoved else { return .refused(.moveEnded) }
            return rest > 0 ? .next(.begin(to: target, count: rest)) : .done
        case .finish:
            guard try isAbandoned(control), let move = try control.state("slot_move") else { return .done }
            _ = try end(move, control)
            try changed()
        case .clean: try clean(control, changed)
        }
        return .done
    }

    // MARK: Marking

    /// Returns whether all live nodes send heartbeats to a shard.
    private func hasAllNodes(_ target: Int, _ control: PostgresConnection) throws(SQLError) -> Bool {
        let text: StaticString = "SELECT instance FROM nodes WHERE seen_at > clock_timestamp() - interval '3 seconds'"
        var live: [Set<Int64>] = []
        for connection in [control, try connections.connection(toShard: target)] {
            let select = try connection.prepare(text)
            var instances: Set<Int64> = []
            while try select.step() { instances.insert(select.int64(0)) }
            live.append(instances)
        }
        return live[0].isSubset(of: live[1])
    }

    /// Marks slots that move to a shard; returns their count and the number of the move, or the reason for the refusal.
    ///
    /// The transaction also records the shard's database, so that a node with another database for this shard stops.
    private func mark(
        for target: Int, _ count: Int, _ control: PostgresConnection
    ) throws(SQLError) -> Result<(count: Int, move: Int64), StoreRefusal> {
        let new = try connections.connection(toShard: target)
        return try control.repeatedTransaction {
            () throws(SQLError) -> Result<(count: Int, move: Int64), StoreRefusal> in
            guard try moving(control).isEmpty else { return .failure(.slotsAreMoving) }
            guard try !control.excludes(new, asShard: target) else { return .failure(.shardNotEverywhere) }
            try control.include(new, asShard: target)
            let select = try control.prepare("SELECT slot, shard FROM slots WHERE former IS NULL")
            var free: [Int: [Int]] = [:]
            while try select.step() { free[Int(select.int64(1)), default: []].append(Int(select.int64(0))) }
            let chosen = SlotRange.choose(
                for: target, countMax: min(count, Self.slotsPerMoveCountMax), from: free)
            guard !chosen.isEmpty else { return .success((0, 0)) }
            try control.execute(
                text:
                    "UPDATE slots SET moving_to = \(target) WHERE slot IN (\(chosen.map(String.init).joined(separator: ",")))"
            )
            let move = (try control.state("slot_move") ?? 0) + 1
            try control.setState("slot_move", to: move)
            try control.setState("slot_mover", to: instance.rawValue)
            try raiseVersion(control)
            return .success((chosen.count, move))
        }
    }

    /// Returns the slots of a move, grouped by their present shards; no slots if the move has ended.
    private func slots(of move: Int64, _ control: PostgresConnection) throws(SQLError) -> [Int: [Int]] {
        try control.repeatedTransaction { () throws(SQLError) in
            try control.state("slot_move") == move ? try moving(control) : [:]
        }
    }

    /// Returns the slots that move, grouped by their present shards.
    private func moving(_ control: PostgresConnection) throws(SQLError) -> [Int: [Int]] {
        let select = try control.prepare("SELECT slot, shard FROM slots WHERE moving_to IS NOT NULL")
        var slots: [Int: [Int]] = [:]
        while try select.step() { slots[Int(select.int64(1)), default: []].append(Int(select.int64(0))) }
        return slots
    }

    // MARK: Copying

    /// Copies the rows of slots; their present shard decides the move when it commits.
    private func copy(_ slots: [Int], from source: Int, to target: Int, _ move: Int64) throws(SQLError) {
        let (old, new) = (
            try connections.connection(toShard: source), try connections.connection(toShard: target)
        )
        let ranges = SlotRange.ranges(of: slots)
        try old.repeatedTransaction { () throws(SQLError) in
            // The lock waits until earlier requests are committed. The snapshot is taken after that.
            try old.execute(
                text: """
                    SET LOCAL lock_timeout = '\(Self.lockTimeout)';
                    LOCK TABLE devices, registrations, filters, subscriptions, delivery_histories IN SHARE MODE
                    """)
            guard try SlotMoveDecision(on: old).isOpen(move) else { return }
            let isReceived = try new.repeatedTransaction { () throws(SQLError) -> Bool in
                // While this node hung, a later move may have copied the devices to the new shard.
                guard try SlotMoveDecision(on: new).receive(move, slots) else { return false }
                for range in ranges {
                    // A cancelled move may have left rows in the new shard.
                    try SlotRows(connection: new, range: range).delete()
                    _ = try SlotRows(connection: old, range: range).copy(to: new)
                }
                return true
            }
            guard isReceived else { return }
            for range in ranges { try SlotRows(connection: old, range: range).deletePending() }
            try SlotMoveDecision(on: old).complete(move, slots)
        }
    }

    // MARK: The end

    /// Assigns the slots whose rows were copied to the new shard, and cancels the move of the others.
    ///
    /// All nodes that end a move reach the same result, because the present shard of the slots decides the move.
    ///
    /// - Parameters:
    ///   - move: The number of the move.
    ///   - control: The shard with the control data.
    /// - Returns: Whether all slots have moved; also false if another node has ended the move.
    /// - Throws: The error that PostgreSQL returned.
    private func end(_ move: Int64, _ control: PostgresConnection) throws(SQLError) -> Bool {
        let slots = try slots(of: move, control)
        guard !slots.isEmpty, let target = try target(control) else { return false }
        var (moved, cancelled): ([Int], [Int]) = ([], [])
        for (source, slots) in slots {
            guard try SlotMoveDecision(on: connections.connection(toShard: source)).decide(move) else {
                cancelled += slots
                continue
            }
            try SlotMoveDecision(on: connections.connection(toShard: target)).accept(move, slots)
            moved.append(source)
        }
        let sources = moved.isEmpty ? "-1" : moved.map(String.init).joined(separator: ",")
        try control.repeatedTransaction { () throws(SQLError) in
            guard try control.state("slot_move") == move else { return }
            try control.execute(
                text:
                    """
                    UPDATE slots SET former = shard, shard = moving_to, moving_to = NULL,
                        moved_at_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                    WHERE moving_to IS NOT NULL AND shard IN (\(sources))
                    """)
            try control.execute(text: "UPDATE slots SET moving_to = NULL WHERE moving_to IS NOT NULL")
            try raiseVersion(control)
        }
        // If the new shard cannot be reached now, the next copy of these slots deletes the rows.
        if !cancelled.isEmpty { try? forget(cancelled, of: move, in: target) }
        return moved.count == slots.count
    }

    /// Deletes the rows that a cancelled move has copied to the new shard.
    private func forget(_ slots: [Int], of move: Int64, in target: Int) throws(SQLError) {
        let new = try connections.connection(toShard: target)
        try new.repeatedTransaction { () throws(SQLError) in
            guard try SlotMoveDecision(on: new).refuse(move) else { return }
            for range in SlotRange.ranges(of: slots) { try SlotRows(connection: new, range: range).delete() }
        }
    }

    /// Returns the shard to which slots move.
    private func target(_ control: PostgresConnection) throws(SQLError) -> Int? {
        let select = try control.prepare("SELECT moving_to FROM slots WHERE moving_to IS NOT NULL LIMIT 1")
        defer { select.reset() }
        return try select.step() ? Int(select.int64(0)) : nil
    }

    /// Returns whether slots are marked as moving, but no node moves them any more.
    private func isAbandoned(_ control: PostgresConnection) throws(SQLError) -> Bool {
        guard try !moving(control).isEmpty else { return false }
        let mover = try control.state("slot_mover")
        // This worker does one job at a time. So if this node began the move, its job has ended.
        guard let mover, mover != instance.rawValue else { return true }
        let live = try control.prepare(
            "SELECT 1 FROM nodes WHERE instance = ? AND seen_at > clock_timestamp() - interval '3 seconds'")
        live.bind(mover, at: 1)
        defer { live.reset() }
        return try !live.step()
    }

    // MARK: Cleaning

    private func clean(_ control: PostgresConnection, _ changed: () throws(SQLError) -> Void) throws(SQLError) {
        let lock = try control.prepare("SELECT 1 WHERE pg_try_advisory_lock(?)")
        lock.bind(Self.lockKey, at: 1)
        let isLocked = try lock.step()
        lock.reset()
        guard isLocked else { return }
        // If this statement fails, the connection is lost, and PostgreSQL releases the lock.
        defer { try? control.execute(text: "SELECT pg_advisory_unlock(\(Self.lockKey))") }
        var cleaned: [LeftSlot] = []
        for slot in try leftSlots(control) where try clean(slot, control) { cleaned.append(slot) }
        guard !cleaned.isEmpty else { return }
        try control.repeatedTransaction { () throws(SQLError) in
            let rows = cleaned.map { "(\($0.slot), \($0.movedAt))" }.joined(separator: ", ")
            try control.execute(
                text: "UPDATE slots SET former = NULL, moved_at_ms = NULL WHERE (slot, moved_at_ms) IN (VALUES \(rows))"
            )
            try raiseVersion(control)
        }
        try changed()
    }

    /// A slot that has moved, and whose former shard still has rows.
    private struct LeftSlot {
        var former: Int
        var shard: Int
        var slot: Int
        /// The end of the move in milliseconds.
        var movedAt: Int64
        /// Whether the former shard need not keep the rows any more.
        var isDue: Bool
    }

    private func leftSlots(_ control: PostgresConnection) throws(SQLError) -> [LeftSlot] {
        let select = try control.prepare(
            """
            SELECT former, shard, slot, moved_at_ms,
                moved_at_ms < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ?
            FROM slots WHERE former IS NOT NULL AND moving_to IS NULL
            """)
        select.bind(Self.leftoverMilliseconds, at: 1)
        var left: [LeftSlot] = []
        while try select.step() {
            left.append(
                LeftSlot(
                    former: Int(select.int64(0)), shard: Int(select.int64(1)), slot: Int(select.int64(2)),
                    movedAt: select.int64(3), isDue: select.int64(4) != 0))
        }
        return left
    }

    /// Moves late notifications of a slot, and deletes its other rows if they are due; returns whether none are left.
    ///
    /// While this node hangs, another node may clean the slot, and the slot may move back. So the transaction checks that
    /// the slot has not returned to the former shard since.
    private func clean(_ left: LeftSlot, _ control: PostgresConnection) throws(SQLError) -> Bool {
        let former = try connections.connection(toShard: left.former)
        let decision = SlotMoveDecision(on: former)
        // A slot moves again only after it was cleaned, so this is the move that ended at that time.
        guard let move = try decision.departure(of: left.slot), try isLeft(left, control) else { return false }
        let rows = SlotRows(connection: former, range: SlotRange(slots: left.slot...left.slot))
        let present = try connections.connection(toShard: left.shard)
        return try former.repeatedTransaction { () throws(SQLError) -> Bool in
            guard try decision.departure(of: left.slot) == move else { return false }
            try rows.moveStrays(to: present)
            if left.isDue { try rows.delete() }
            return left.isDue
        }
    }

    /// Returns whether no node has cleaned a slot since its move.
    private func isLeft(_ left: LeftSlot, _ control: PostgresConnection) throws(SQLError) -> Bool {
        let select = try control.prepare(
            "SELECT 1 FROM slots WHERE slot = ? AND former IS NOT NULL AND moved_at_ms = ?")
        select.bind(Int64(left.slot), at: 1)
        select.bind(left.movedAt, at: 2)
        defer { select.reset() }
        return try select.step()
    }

    // MARK: State

    private func raiseVersion(_ control: PostgresConnection) throws(SQLError) {
        try control.execute(text: "UPDATE control SET version = version + 1")
    }
}
