// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushSQL
internal import PushSQLite

/// The acknowledgements that the server has not confirmed, oldest first.
package final class OutboxTable {
    /// The maximum number of acknowledgements.
    ///
    /// Without one, the server sends the notification again, and it is recognized.
    static let rowCountMax: Int64 = 20_000

    private let insert: Statement
    private let trim: Statement
    private let select: Statement
    private let delete: Statement
    private let deleteAll: Statement

    init(_ connection: Connection) throws(SQLError) {
        insert = try connection.prepare("INSERT INTO outbox (sequence, outcome, reason) VALUES (?, ?, ?)")
        trim = try connection.prepare("DELETE FROM outbox WHERE position <= (SELECT max(position) FROM outbox) - ?")
        select = try connection.prepare(
            "SELECT position, sequence, outcome, reason FROM outbox ORDER BY position LIMIT ?")
        delete = try connection.prepare("DELETE FROM outbox WHERE position <= ?")
        deleteAll = try connection.prepare("DELETE FROM outbox")
    }

    /// Adds an acknowledgement, unless the notification has no sequence number in the server's queue.
    package func append(sequence: Int64, _ outcome: DeviceAPI.Outcome, reason: String? = nil) throws(SQLError) {
        guard sequence > 0 else { return }
        insert.bind(sequence, at: 1)
        insert.bind(outcome.rawValue, at: 2)
        insert.bind(reason, at: 3)
        try insert.run()
        trim.bind(Self.rowCountMax, at: 1)
        try trim.run()
    }

    /// Returns the oldest acknowledgements and the position of the last of them; nil if the table is empty.
    package func oldest(
        countMax: Int
    ) throws(SQLError) -> (acknowledgements: [DeviceAPI.Acknowledgement], lastPosition: Int64)? {
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

    /// Deletes all acknowledgements up to a position.
    package func remove(upTo position: Int64) throws(SQLError) {
        delete.bind(position, at: 1)
        try delete.run()
    }

    /// Deletes all acknowledgements, because the device left the server.
    package func removeAll() throws(SQLError) { try deleteAll.run() }
}
