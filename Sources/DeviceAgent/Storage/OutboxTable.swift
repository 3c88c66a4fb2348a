// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQLite

/// Acknowledgements that the server has not confirmed, oldest first.
package final class OutboxTable {
    /// More than these are not kept: the server sends what was not acknowledged again, and we know it again.
    package static let rowCountMax: Int64 = 20_000

    private let insert: Statement
    private let trim: Statement
    private let select: Statement
    private let delete: Statement
    private let deleteAll: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare("INSERT INTO outbox (sequence, outcome, reason) VALUES (?, ?, ?)")
        trim = try connection.prepare("DELETE FROM outbox WHERE position <= (SELECT max(position) FROM outbox) - ?")
        select = try connection.prepare(
            "SELECT position, sequence, outcome, reason FROM outbox ORDER BY position LIMIT ?")
        delete = try connection.prepare("DELETE FROM outbox WHERE position <= ?")
        deleteAll = try connection.prepare("DELETE FROM outbox")
    }

    /// Remembers an acknowledgement; one without a place in the server's queue needs none.
    package func append(sequence: Int64, _ outcome: DeviceAPI.Outcome, reason: String? = nil) throws(SQLiteError) {
        guard sequence > 0 else { return }
        insert.bind(sequence, at: 1)
        insert.bind(outcome.rawValue, at: 2)
        insert.bind(reason, at: 3)
        try insert.run()
        trim.bind(Self.rowCountMax, at: 1)
        try trim.run()
    }

    /// The oldest ones, and the position of the last of them; nil when there is none.
    package func oldest(
        countMax: Int
    ) throws(SQLiteError) -> (acknowledgements: [DeviceAPI.Acknowledgement], lastPosition: Int64)? {
        defer { select.reset() }
        select.bind(Int64(countMax), at: 1)
        var acknowledgements: [DeviceAPI.Acknowledgement] = []
        var lastPosition: Int64 = 0
        while try select.step() {
            lastPosition = select.int64(0)
            guard let outcome = DeviceAPI.Outcome(rawValue: select.string(2)) else { continue }
            acknowledgements.append(
                .init(id: select.int64(1), outcome: outcome, reason: select.optionalString(3)))
        }
        return lastPosition == 0 ? nil : (acknowledgements, lastPosition)
    }

    /// Forgets everything up to a position.
    package func remove(upTo position: Int64) throws(SQLiteError) {
        delete.bind(position, at: 1)
        try delete.run()
    }

    /// Forgets everything: the server that it was for is left.
    package func removeAll() throws(SQLiteError) { try deleteAll.run() }
}
