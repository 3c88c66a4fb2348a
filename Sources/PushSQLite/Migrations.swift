// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import PushSQL

/// The schema versions of a database, stored as `PRAGMA user_version`.
///
/// Each step runs in one transaction. A file with a newer version is refused.
package struct Migrations: Sendable {
    /// The SQL of each step from one version to the next.
    private let steps: [StaticString]

    /// Creates the migrations; step i upgrades version i to i + 1.
    ///
    /// A released step must never change.
    ///
    /// - Parameter steps: The steps in order of their versions.
    package init(_ steps: [StaticString]) { self.steps = steps }

    /// The version of a file after `apply`.
    package var version: Int { steps.count }

    /// Migrates a file to the newest version; does nothing if it has that version.
    ///
    /// - Parameter connection: The open file.
    /// - Throws: `newer` when a later program created the file: use that program. `failed` when its tables differ from
    ///   those of its version (SQLITE_CORRUPT), or SQLite refused a step: the file keeps the version before that step.
    package func apply(to connection: Connection) throws(MigrationError) {
        let found = try foundVersion(of: connection)
        if let altered = try alteredTables(of: connection).first {
            let message = "the definition of \(altered) differs from the schema"
            throw .failed(
                step: found, SQLError(code: SQLITE_CORRUPT, message: message, subject: connection.path))
        }
        for step in found..<steps.count {
            do {
                try take(step, on: connection)
            } catch {
                throw .failed(step: step, error)
            }
        }
    }

    private func take(_ step: Int, on connection: Connection) throws(SQLError) {
        try connection.transaction { () throws(SQLError) in
            try connection.execute(steps[step])
            // A pragma takes no parameters, so our own number is part of the text.
            try connection.execute(text: "PRAGMA user_version = \(step + 1)")
        }
    }

    /// Returns the tables and indexes whose definition differs from the one that the migration steps create.
    ///
    /// SQLite does not detect a changed bit in the definition of a table; the table then has another column.
    ///
    /// - Parameter connection: The open file.
    /// - Returns: The names, sorted. Additional tables in the file are ignored.
    /// - Throws: `newer` and `failed` as `foundVersion` does.
    package func alteredTables(of connection: Connection) throws(MigrationError) -> [String] {
        let version = try foundVersion(of: connection)
        do throws(SQLError) {
            let model = try Connection(inMemory: "a model")
            for step in 0..<version { try take(step, on: model) }
            let found = try connection.schema()
            return try model.schema().filter { found[$0.key] != $0.value }.keys.sorted()
        } catch {
            throw .failed(step: version, error)
        }
    }

    /// Returns the current version of a file.
    ///
    /// - Parameter connection: The open file.
    /// - Returns: The version; 0 for a file without a schema.
    /// - Throws: `newer` when a later program created the file; `failed` when SQLite refused to read it.
    package func foundVersion(of connection: Connection) throws(MigrationError) -> Int {
        let found: Int
        do {
            let statement = try connection.prepare("PRAGMA user_version")
            found = try statement.step() ? Int(statement.int64(0)) : 0
            statement.reset()
        } catch {
            throw .failed(step: 0, error)
        }
        guard (0...steps.count).contains(found) else { throw .newer(found: found, known: steps.count) }
        return found
    }
}

/// The reason why a schema could not be migrated.
package enum MigrationError: Error, Sendable {
    /// A later program created the file.
    case newer(found: Int, known: Int)
    /// SQLite refused a step, counted from 0.
    case failed(step: Int, SQLError)
}

extension Connection {
    /// Returns the SQL that created each table and index, by name.
    ///
    /// White space and quotation marks are removed, because versions of SQLite write them differently when they alter a
    /// table.
    ///
    /// - Returns: The SQL by name.
    /// - Throws: The error that SQLite returned.
    fileprivate func schema() throws(SQLError) -> [String: String] {
        let statement = try prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        var texts: [String: String] = [:]
        while try statement.step() {
            texts[statement.string(0)] = statement.string(1).filter { !$0.isWhitespace && $0 != "\"" }
        }
        return texts
    }
}
