// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

extension PostgresConnection {
    /// Runs a closure in a serializable transaction, and repeats both when concurrent transactions prevent the commit.
    ///
    /// - Parameter body: Executes the statements, which have no effect until the commit; may be called several times.
    /// - Returns: The result of the closure, after the commit.
    /// - Throws: The error of the closure, of BEGIN or of COMMIT; a conflict after the last attempt.
    func repeatedTransaction<Result>(_ body: () throws(SQLError) -> Result) throws(SQLError) -> Result {
        var attempt = 1
        while true {
            do {
                return try transaction { () throws(SQLError) in try body() }
            } catch {
                guard error.kind == .conflict, attempt < PostgresLimits.attemptCountMax else { throw error }
                ElapsedPause.wait(milliseconds: .random(in: 0...min(1 << attempt, PostgresLimits.pauseMillisecondsMax)))
                attempt += 1
            }
        }
    }
}
