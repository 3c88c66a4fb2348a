// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL

/// The decision of a shard about a move of its slots: the devices have moved, or the move is cancelled.
///
/// The row `copied_move` of the table `state` has the number of the last decided move; it is negative if that move was
/// cancelled. The node that copies and a node that cancels both write this row. So PostgreSQL lets only one of them
/// commit, even if the node that copies has hung for a long time. Later moves have higher numbers.
struct SlotMoveDecision {
    private static let name = "copied_move"
    private static let received = "received_move"

    private let connection: PostgresConnection

    /// Creates the decision of the shard of a connection.
    init(on connection: PostgresConnection) { self.connection = connection }

    /// Returns whether a move is not decided yet, in a transaction of the caller.
    func isOpen(_ move: Int64) throws(SQLError) -> Bool {
        abs(try connection.state(Self.name) ?? 0) < move
    }

    /// Decides that slots have moved, in the transaction that copied their rows.
    func complete(_ move: Int64, _ slots: [Int]) throws(SQLError) {
        try connection.setState(Self.name, to: move)
        let rows = slots.map { "(\($0), \(move))" }.joined(separator: ", ")
        try connection.execute(
            text: "INSERT INTO moved_slots VALUES \(rows) ON CONFLICT (slot) DO UPDATE SET move = excluded.move")
    }

    /// Returns whether the slots have moved; cancels the move if it is not decided yet.
    func decide(_ move: Int64) throws(SQLError) -> Bool {
        try connection.repeatedTransaction { () throws(SQLError) in
            if try isOpen(move) { try connection.setState(Self.name, to: -move) }
            return try connection.state(Self.name) == move
        }
    }

    /// Lets the new shard of slots serve their devices, unless the slots have left it in a later move.
    func accept(_ move: Int64, _ slots: [Int]) throws(SQLError) {
        let list = slots.map(String.init).joined(separator: ", ")
        try connection.execute(text: "DELETE FROM moved_slots WHERE slot IN (\(list)) AND move <= \(move)")
    }

    // MARK: The rows of other shards

    /// Begins to receive the rows of slots, in a transaction of the caller; returns false after a later move.
    ///
    /// From then on, a node that hung can no longer clean these slots.
    func receive(_ move: Int64, _ slots: [Int]) throws(SQLError) -> Bool {
        guard try connection.state(Self.received) ?? 0 <= move else { return false }
        try connection.setState(Self.received, to: move)
        let list = slots.map(String.init).joined(separator: ", ")
        try connection.execute(text: "UPDATE moved_slots SET move = \(move) WHERE slot IN (\(list))")
        return true
    }

    /// Keeps the shard from receiving rows of a cancelled move, in a transaction of the caller; returns false after a
    /// later move.
    func refuse(_ move: Int64) throws(SQLError) -> Bool {
        guard try connection.state(Self.received) ?? 0 <= move else { return false }
        try connection.setState(Self.received, to: move + 1)
        return true
    }

    /// Returns the move in which a slot left the shard; nil if the shard has the slot.
    func departure(of slot: Int) throws(SQLError) -> Int64? {
        let select = try connection.prepare("SELECT move FROM moved_slots WHERE slot = ?")
        select.bind(Int64(slot), at: 1)
        defer { select.reset() }
        return try select.step() ? select.int64(0) : nil
    }
}

/// The table `state` of a shard.
extension PostgresConnection {
    /// Returns the value with a name; nil without a row.
    func state(_ name: String) throws(SQLError) -> Int64? {
        let select = try prepare("SELECT value FROM state WHERE name = ?")
        select.bind(name, at: 1)
        defer { select.reset() }
        return try select.step() ? select.int64(0) : nil
    }

    /// Sets the value with a name.
    func setState(_ name: String, to value: Int64) throws(SQLError) {
        let insert = try prepare(
            "INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        insert.bind(name, at: 1)
        insert.bind(value, at: 2)
        try insert.run()
    }
}
