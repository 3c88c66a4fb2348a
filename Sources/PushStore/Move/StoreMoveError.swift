// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
package import PushSQL

/// The reason why a store could not be moved; the source is unchanged, and the target has no part of it.
package enum StoreMoveError: Error, Sendable {
    /// The file of SQLite cannot be used.
    case sqlite(StoreError)
    /// PostgreSQL returned an error.
    case postgres(address: String, SQLError)
    /// A node of the cluster is running.
    case nodeRunning(address: String, name: String)
    /// Devices are in several databases.
    case severalShards(address: String)
    /// A table of the target has rows.
    case notEmpty(address: String, table: String)
    /// The source has no tables.
    case noTables(address: String)
    /// A later version of the program created the tables.
    case newerSchema(address: String, found: Int, known: Int)
    /// The nodes of the cluster would assign numbers that the store has already assigned.
    case aheadOfClock(path: String, seconds: Int64)
    /// The numbers are too large for a store in SQLite.
    case outOfNumbers(address: String)
    /// The rows that were read back from the target differ from those of the source.
    case differs(target: String, table: String)
}

extension StoreMoveError: CustomStringConvertible {
    /// The problem and the action that it requires.
    package var description: String { "\(problem). \(remedy)" }

    /// The problem without a trailing period.
    private var problem: String {
        switch self {
        case .sqlite(let error): error.whatHappened
        case .postgres(let address, let error) where error.kind == .cannotOpen:
            "Cannot connect to \(address): \(error.message) (code \(error.code))"
        case .postgres(let address, let error): "PostgreSQL error on \(address): \(error.message) (code \(error.code))"
        case .nodeRunning(let address, let name): "The node '\(name)' uses \(address)"
        case .severalShards(let address): "The cluster of \(address) has devices in several databases"
        case .notEmpty(let address, let table): "The schema in \(address) is not empty: the table \(table) has rows"
        case .noTables(let address): "The database \(address) has no tables of Posthorn"
        case .newerSchema(let address, let found, let known):
            "\(address) has schema version \(found), and this program knows version \(known)"
        case .aheadOfClock(let path, let seconds):
            "The last number in \(path) is \(seconds) s ahead of PostgreSQL's clock, so nodes would assign it again"
        case .outOfNumbers(let address): "The numbers in \(address) are too large for SQLite"
        case .differs(let target, let table):
            "The rows of the table \(table) in \(target) differ from those that were written"
        }
    }

    /// One or two sentences that tell the administrator what to do.
    private var remedy: String {
        switch self {
        case .sqlite(.locked): "Stop the server that uses it, and try again."
        case .sqlite(.full): "Free space on the disk, and try again."
        case .sqlite(let error): error.remedy
        case .postgres(_, let error): error.advice ?? Self.remedy(of: error)
        case .nodeRunning: "Stop all nodes, wait ten seconds, and try again."
        case .severalShards: "Move all slots to shard 0 with 'posthorn cluster move-slots --to 0 1024', and try again."
        case .notEmpty: "Use an empty database, or delete the schema if nobody needs it: DROP SCHEMA posthorn CASCADE"
        case .noTables: "Check the address."
        case .newerSchema: "Use the version of the program that the nodes have."
        case .aheadOfClock(_, let seconds):
            "A move to SQLite skips numbers, so wait \(seconds) s and try again, or set PostgreSQL's clock."
        case .outOfNumbers: "Check the clocks of the nodes, which make numbers of the time."
        case .differs: "Nothing was changed. Check the memory and the disk of both machines, and try again."
        }
    }

    /// Returns the action for an error of PostgreSQL whose cause is not known.
    private static func remedy(of error: SQLError) -> String {
        switch error.kind {
        case .cannotOpen: "Check the address, the password and whether PostgreSQL runs."
        case .disconnected: "Check PostgreSQL, then check whether the schema is still empty, and try again."
        case .busy: "Stop all nodes and other programs that use the schema, and try again."
        case .full: "Free space on the disk of PostgreSQL, and try again."
        default: "Nothing was changed. Fix the cause, and try again."
        }
    }

    /// Whether a process uses the source or the target.
    package var isInUse: Bool {
        switch self {
        case .sqlite(let error): error.isLocked
        case .nodeRunning: true
        case .postgres(_, let error): error.kind == .busy
        default: false
        }
    }
}
