// SPDX-License-Identifier: Apache-2.0

package import PushSQL

/// A connection to PostgreSQL that blocks, for use on one thread.
///
/// After an error of the kind `disconnected`, it is unusable: open another one, and prepare its statements.
@safe
package final class PostgresConnection: SQLDatabase {
    /// The isolation of a transaction from concurrent ones.
    package enum Isolation: Sendable {
        /// The transaction behaves as if no other one ran at the same time, or fails with `conflict`.
        case serializable
        /// Each statement of the transaction sees what was committed before it.
        case readCommitted
    }

    let handle: PostgresHandle
    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package private(set) var changedRowCount = 0
    /// The names of the statements that the server has prepared, by text and types of parameters.
    ///
    /// The texts are literals of the program, so their number is bounded.
    private var names: [PreparedText: String] = [:]
    /// The first error in the current transaction, after which the server refuses its other statements.
    private var transactionFailure: SQLError?

    private struct PreparedText: Hashable {
        let text: String
        let types: [PostgresType]
    }

    /// Connects to the first server of an address that accepts writes.
    ///
    /// - Parameters:
    ///   - address: The servers.
    ///   - settings: The settings of the session.
    /// - Throws: `cannotOpen` when no server can be reached or accepts writes.
    package init(to address: PostgresAddress, settings: PostgresSettings) throws(SQLError) {
        handle = try PostgresHandle(opening: address, settings)
    }

    /// Whether the connection can still be used, as far as is known.
    package var isUsable: Bool { handle.isUsable }

    /// The process of the server that serves this connection.
    package var serverProcess: Int32 { handle.serverProcess }

    /// Runs statements without parameters and ignores their rows.
    ///
    /// Outside a transaction, the statements are one transaction.
    ///
    /// - Parameter sql: The statements.
    /// - Throws: The error that the server returned.
    package func execute(_ sql: StaticString) throws(SQLError) { try execute(text: sql.description) }

    /// Runs SQL text that is not a literal.
    ///
    /// Use it only to insert our own names and numbers where SQL allows no parameter.
    ///
    /// - Parameter text: The statements.
    /// - Throws: The error that the server returned.
    package func execute(text: String) throws(SQLError) {
        let result = try noting { () throws(SQLError) in try handle.execute(text) }
        note(result)
    }

    /// Creates a statement; the server prepares it when it is first executed.
    package func prepare(_ sql: StaticString) throws(SQLError) -> PostgresStatement {
        PostgresStatement(sql, on: self)
    }

    /// Creates a statement with the text for PostgreSQL.
    package func prepare(_ sql: StaticString, postgres: StaticString) throws(SQLError) -> PostgresStatement {
        PostgresStatement(postgres, on: self)
    }

    // MARK: Transactions

    /// Runs a closure in a transaction; rolls back when the closure or the commit throws.
    ///
    /// - Parameters:
    ///   - isolation: The isolation from concurrent transactions.
    ///   - body: Executes the statements. It must not begin a transaction.
    /// - Returns: The result of the closure, after the commit.
    /// - Throws: The error of the closure, of BEGIN or of COMMIT. After `conflict`, run it again. After `disconnected`, it
    ///   is unknown whether the commit took place. After other errors, the transaction has no effect.
    package func transaction<Result>(
        isolation: Isolation = .serializable, _ body: () throws(SQLError) -> Result
    ) throws(SQLError) -> Result {
        precondition(!handle.isInTransaction, "a transaction was begun inside another one")
        switch isolation {
        case .serializable: try execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        case .readCommitted: try execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        }
        transactionFailure = nil
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            if handle.isUsable, handle.isInTransaction { try? execute("ROLLBACK") }
            // Without a rollback, later statements would be part of this transaction.
            if handle.isInTransaction { handle.abandon() }
            // The server refuses each statement after the first error, so that error is the reason.
            throw error.code == "25P02" ? transactionFailure ?? error : error
        }
    }

    private func commit() throws(SQLError) {
        // COMMIT of a failed transaction succeeds, and rolls it back.
        if let transactionFailure { throw transactionFailure }
        _ = handle.takeSkippedStandby()
        let result = try handle.execute("COMMIT")
        guard result.tag == "COMMIT" else {
            throw SQLError(kind: .refused, code: "25P02", message: "the transaction was rolled back", subject: "COMMIT")
        }
        if handle.takeSkippedStandby() { throw .skippedStandby }
    }

    // MARK: For statements

    /// Executes a prepared statement, after preparing it if this text is new.
    func execute(_ text: String, _ parameters: PostgresParameters) throws(SQLError) -> PostgresResult {
        let result = try noting { () throws(SQLError) in
            let name = try name(of: text, types: parameters.types)
            return try handle.execute(name, parameters, about: text)
        }
        note(result)
        return result
    }

    private func name(of text: String, types: [PostgresType]) throws(SQLError) -> String {
        let key = PreparedText(text: text, types: types)
        if let name = names[key] { return name }
        let name = "s\(names.count)"
        try handle.prepare(text, name: name, types: types)
        names[key] = name
        return name
    }

    private func note(_ result: borrowing PostgresResult) {
        if let count = result.changedRowCount { changedRowCount = count }
    }

    /// Runs a closure, and remembers its error as that of the transaction.
    private func noting(_ body: () throws(SQLError) -> PostgresResult) throws(SQLError) -> PostgresResult {
        do {
            return try body()
        } catch {
            if transactionFailure == nil { transactionFailure = error }
            throw error
        }
    }
}
