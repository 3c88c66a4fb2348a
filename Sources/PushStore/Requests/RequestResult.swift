// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The result of a request, or of a step of it.
enum RequestResult {
    case success(StoreAnswer)
    /// The request has ended deliveries, although not every request of its kind does.
    case successAfterDeliveries(StoreAnswer)
    case failure(StoreRefusal)
    /// Memory provides the answer, after the events before it.
    case memoryQuery(StoreEvent.MemoryQuery)
    /// The request needs more steps.
    case unfinished(any LongWork)

    /// Creates the result of a request that is complete.
    init(_ result: Result<StoreAnswer, StoreRefusal>) {
        switch result {
        case .success(let answer): self = .success(answer)
        case .failure(let refusal): self = .failure(refusal)
        }
    }
}

/// Work that may not fit into one slice: a long list, or the removal of many rows.
protocol LongWork: AnyObject {
    /// Executes the next step, inside a transaction.
    ///
    /// - Returns: The result; `unfinished` with this work when more steps are left.
    /// - Throws: The error that the engine returned.
    func step() throws(SQLError) -> RequestResult

    /// Starts over, because a transaction with a part of the work was rolled back.
    func restart()
}
