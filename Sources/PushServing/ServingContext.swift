// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushStore
package import PushTLS
internal import Synchronization

/// The state that the loops share, immutable or locked.
package final class ServingContext: Sendable {
    package let store: any HostingStore
    package let limiter: ConnectionLimiter
    package let memory: MemoryBudget
    package let log: EventLog
    /// The mailboxes of the data loops, by loop index.
    package let dataLoops: [Mailbox<LoopMessage>]
    /// The time that a connection may stay open without a proven credential.
    let authenticationTimeout: Duration
    /// The number of streams that unauthenticated peers are told they may open.
    let unauthenticatedStreamCountMax: Int
    /// The number of data loops that still have work.
    private let workingCount: Atomic<Int>

    /// Creates the shared state.
    ///
    /// - Parameters:
    ///   - store: The store, which gets the loops' commands.
    ///   - limiter: The counts of connections.
    ///   - memory: The memory budget.
    ///   - log: The log of all loops.
    ///   - dataLoops: The mailboxes of the data loops, by loop index.
    ///   - authenticationTimeout: The time that a connection may stay open without a proven credential.
    ///   - unauthenticatedStreamCountMax: The number of streams that unauthenticated peers are told they may open.
    package init(
        store: any HostingStore, limiter: ConnectionLimiter, memory: MemoryBudget, log: EventLog,
        dataLoops: [Mailbox<LoopMessage>], authenticationTimeout: Duration, unauthenticatedStreamCountMax: Int
    ) {
        self.store = store
        self.limiter = limiter
        self.memory = memory
        self.log = log
        self.dataLoops = dataLoops
        self.authenticationTimeout = authenticationTimeout
        self.unauthenticatedStreamCountMax = unauthenticatedStreamCountMax
        workingCount = Atomic(dataLoops.count)
    }

    /// Records that a data loop has no more work; ends all data loops when none has.
    ///
    /// A loop without connections still forwards notifications that other loops sent to its former devices.
    package func loopIsDone() {
        guard workingCount.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        for mailbox in dataLoops { mailbox.post(.end) }
    }
}

/// The reason why a loop or a connection cannot continue.
package enum ServingError: Error, Sendable {
    case system(NetError)
    case tls(TLSError)

    var description: String {
        switch self {
        case .system(let error): "\(error.description)\n\(error.advice)"
        case .tls(let error): error.description
        }
    }

    static func wrapping<Value>(_ body: () throws(NetError) -> Value) throws(ServingError) -> Value {
        do throws(NetError) { return try body() } catch { throw .system(error) }
    }
}
