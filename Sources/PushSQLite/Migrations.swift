// SPDX-License-Identifier: Apache-2.0

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
    /// - Throws: `newer` when a later program made the file: use that program. `failed` when SQLite refused a step: the
    ///   file has the version before it.
    package func apply(to connection: Connection) throws(MigrationError) {
        let found = try storedVersion(of: connection)
        guard found <= steps.count, found >= 0 else { throw .newer(found: found, known: steps.count) }
        for step in found..<steps.count {
            do {
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
            } catch {
                throw .failed(step: step, error)
            }
        }
    }

    private func storedVersion(of connection: Connection) throws(MigrationError) -> Int {
        do {
            let statement = try connection.prepare("PRAGMA user_version")
            let version = try statement.step() ? Int(statement.int64(0)) : 0
            statement.reset()
            return version
        } catch {
            throw .failed(step: 0, error)
        }
    }
}

/// Why a schema could not be brought up to date.
package enum MigrationError: Error, Sendable {
    /// A later program made the file.
    case newer(found: Int, known: Int)
    /// SQLite refused a step, counted from 0.
    case failed(step: Int, SQLiteError)
}

extension Migrations.Step: ExpressibleByStringLiteral {
    /// A step of SQL alone.
    package init(stringLiteral sql: StaticString) { self = .sql(sql) }
}
