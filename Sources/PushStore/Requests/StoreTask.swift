// SPDX-License-Identifier: Apache-2.0

/// A request or a broadcast that the writer executes in a transaction.
final class StoreTask {
    let command: StoreCommand
    /// The remaining long work; nil until a transaction with its first step is committed.
    var progress: (any LongWork)?

    init(_ command: StoreCommand) { self.command = command }
}
