// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// Schema versions by `PRAGMA user_version`: each step in one transaction; a newer file is refused.
package struct Migrations: Sendable {
    /// What takes a file from one version to the next.
    package enum Step: Sendable {
        case sql(StaticString)
        /// SQL, and then what only a program can do.
        case program(StaticString, @Sendable (Connection) throws(SQLiteError) -> Void)
    }

    private let steps: [Step]

    /// Takes the steps; step i takes version i to i + 1, and a step that has shipped never changes again.
    package init(_ steps: [Step]) { self.steps = steps }

    /// The version that a file has after `apply`.
    package var version: Int { steps.count }

    /// Brings a file to the newest version; does nothing to one that is there already.
    ///
    /// - Parameter connection: The open file.
    /// - Throws: `newer` when a later program made the file: use that program. `failed` when its tables are not
    ///   those of its version (SQLITE_CORRUPT), or SQLite refused a step: the file has the version before it.
    package func apply(to connection: Connection) throws(MigrationError) {
        let found = try foundVersion(of: connection)
        if let altered = try alteredTables(of: connection).first {
            let message = "\(altered) is not as it was made"
            throw .failed(
                step: found, SQLiteError(code: SQLITE_CORRUPT, message: message, subject: connection.path))
        }
        for step in found..<steps.count {
            do {
                try take(step, on: connection)
            } catch {
                throw .failed(step: step, error)
            }
        }
    }

    private func take(_ step: Int, on connection: Connection) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            switch steps[step] {
            case .sql(let sql): try connection.execute(sql)
            case .program(let sql, let program):
                try connection.execute(sql)
                try program(connection)
            }
            // A pragma takes no parameters; this is a number of ours.
            try connection.execute(text: "PRAGMA user_version = \(step + 1)")
        }
    }

    /// The tables and indexes that a file describes otherwise than the steps to its version make them.
    ///
    /// To SQLite a file is sound in whose description of a table a bit has changed: it has another column then.
    ///
    /// - Parameter connection: The open file.
    /// - Returns: Their names, in order; those that the file has beside ours are not looked at.
    /// - Throws: `newer` and `failed` as `foundVersion` does.
    package func alteredTables(of connection: Connection) throws(MigrationError) -> [String] {
        let version = try foundVersion(of: connection)
        do throws(SQLiteError) {
            let model = try Connection(inMemory: "a model")
            for step in 0..<version { try take(step, on: model) }
            let found = try connection.schema()
            return try model.schema().filter { found[$0.key] != $0.value }.keys.sorted()
        } catch {
            throw .failed(step: version, error)
        }
    }

    /// The version that a file has now.
    ///
    /// - Parameter connection: The open file.
    /// - Returns: 0 for a file without a schema.
    /// - Throws: `newer` when a later program made the file; `failed` when SQLite refused to read it.
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

/// Why a schema could not be brought up to date.
package enum MigrationError: Error, Sendable {
    /// A later program made the file.
    case newer(found: Int, known: Int)
    /// SQLite refused a step, counted from 0.
    case failed(step: Int, SQLiteError)
}

extension Connection {
    /// What the file says of its tables and indexes: the SQL that made each, by name.
    ///
    /// Without space and quotation marks, which versions of SQLite set differently when they alter a table.
    fileprivate func schema() throws(SQLiteError) -> [String: String] {
        let statement = try prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        var texts: [String: String] = [:]
        while try statement.step() {
            texts[statement.string(0)] = statement.string(1).filter { !$0.isWhitespace && $0 != "\"" }
        }
        return texts
    }
}

extension Migrations.Step: ExpressibleByStringLiteral {
    /// A step of SQL alone.
    package init(stringLiteral sql: StaticString) { self = .sql(sql) }
}
