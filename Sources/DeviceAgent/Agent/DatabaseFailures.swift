// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushNet
internal import PushSQL

/// Reports failures of the agent's database.
final class DatabaseFailures {
    /// Called when the disk can no longer be trusted; the process must end without acknowledging anything more.
    var onFatal: ((SQLError) -> Void)?
    /// Called with a text for the status.
    var onFailure: ((String) -> Void)?

    /// Reports a database failure; an I/O error or a corrupt database ends the agent.
    ///
    /// Acknowledging notifications over a failing disk would lose them. A full disk is retried instead.
    ///
    /// - Parameter error: The error from SQLite.
    func report(_ error: SQLError) {
        agentLog.error("database_failed", ["error": "\(error.message)", "code": "\(error.code)"])
        onFailure?("database error: \(error.message)")
        if error.kind == .inputOutput || error.kind == .damaged { onFatal?(error) }
    }

    /// Runs a database operation, reports its `SQLError` and converts it to an `AgentRefusal`.
    func refusing<Answer>(_ body: () throws(SQLError) -> Answer) throws(AgentRefusal) -> Answer {
        do {
            return try body()
        } catch {
            throw refusal(error)
        }
    }

    /// Reports a database failure, and returns the refusal of the request that met it.
    func refusal(_ error: SQLError) -> AgentRefusal {
        report(error)
        return AgentRefusal(.storageFailed, "Database error: \(error.message).")
    }
}
