// SPDX-License-Identifier: Apache-2.0

internal import PushSQL
internal import PushSQLite

/// The tables of a store in SQLite: those that both engines have, and its own.
final class StoreTables: SharedTables {
    let pending: PendingTable
    let archive: ArchiveTable
    let trace: TraceTable

    init(_ connection: Connection) throws(SQLError) {
        pending = try PendingTable(connection)
        archive = try ArchiveTable(connection)
        trace = try TraceTable(connection)
        try super.init(connection)
    }
}
