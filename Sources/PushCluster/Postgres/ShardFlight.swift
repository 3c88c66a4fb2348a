// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// A batch that was sent to a shard, and the part of its result that has arrived.
struct ShardFlight {
    let number: Int64
    let batch: ShardBatch
    var result = ShardResult()
    var transactionCount = 0
    /// The number of transactions whose ends have arrived.
    var endCount = 0
    /// The number of the transaction that writes notifications, counted from 1.
    var writesEnd: Int?
    /// The failure of that transaction.
    var writeFailure: SQLError?
    /// The first failure of another transaction.
    var failure: SQLError?
    /// The elements of `writes` in the order of their rows in the statement.
    var writeOrder: [Int] = []
    var writtenCount = 0

    init(_ batch: ShardBatch, number: Int64) {
        self.batch = batch
        self.number = number
    }

    /// Records that the next transaction writes notifications.
    mutating func noteWrites() { writesEnd = transactionCount + 1 }

    /// Records the end of the next transaction.
    mutating func noteEnd(_ new: SQLError?) {
        endCount += 1
        guard let new else { return }
        if endCount == 1 { result.heartbeat = nil }
        guard endCount == writesEnd else { return failure = failure ?? new }
        writeFailure = new
        result.writes = result.writes.map { _ in .failed }
        result.replaced = []
    }
}
