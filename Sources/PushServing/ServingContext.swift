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
    /// The numbers of the loops, by loop index; those of the control loop come last.
    package let loopMetrics: [LoopMetrics]
    /// The limits of connections without a proven credential, at the start.
    let strangerLimits: StrangerLimits
    /// Whether the listening sockets stay open after the shutdown began, because another process continues with them.
    private let keepsSockets = Atomic(false)
    /// The time of the last tick of each loop, in seconds of the monotonic clock.
    private let ticks: [TickCell]
    /// The addresses of proxies whose connections begin with a header of the PROXY protocol.
    let proxies: [AddressRange]
    /// The number of loops that still have work, including the control loop.
    private let workingCount: Atomic<Int>

    /// Creates the shared state.
    ///
    /// - Parameters:
    ///   - store: The store, which gets the loops' commands.
    ///   - limiter: The counts of connections.
    ///   - memory: The memory budget.
    ///   - log: The log of all loops.
    ///   - dataLoops: The mailboxes of the data loops, by loop index.
    ///   - strangerLimits: The limits of connections without a proven credential.
    ///   - proxies: The addresses of proxies whose connections begin with a header of the PROXY protocol.
    package init(
        store: any HostingStore, limiter: ConnectionLimiter, memory: MemoryBudget, log: EventLog,
        dataLoops: [Mailbox<LoopMessage>], strangerLimits: StrangerLimits, proxies: [AddressRange] = []
    ) {
        self.proxies = proxies
        self.store = store
        self.limiter = limiter
        self.memory = memory
        self.log = log
        self.dataLoops = dataLoops
        loopMetrics = (0...dataLoops.count).map { _ in LoopMetrics() }
        self.strangerLimits = strangerLimits
        workingCount = Atomic(dataLoops.count + 1)
        ticks = (0...dataLoops.count).map { _ in TickCell() }
    }

    /// Whether the listening sockets stay open after the shutdown began.
    var keepsListening: Bool { keepsSockets.load(ordering: .relaxed) }

    /// Keeps the listening sockets open after the shutdown, so that new connections wait for the next process.
    package func keepListening() { keepsSockets.store(true, ordering: .relaxed) }

    /// Records that a loop runs.
    func tick(_ loop: UInt32, now: MonotonicTime) {
        guard ticks.indices.contains(Int(loop)) else { return }
        ticks[Int(loop)].seconds.store(now.nanoseconds(since: .past) / 1_000_000_000, ordering: .relaxed)
    }

    /// Returns whether all data loops ticked within a time.
    package func allLoopsRun(within duration: Duration, now: MonotonicTime) -> Bool {
        let earliest = now.nanoseconds(since: .past) / 1_000_000_000 - duration.components.seconds
        return ticks.dropLast().allSatisfy { $0.seconds.load(ordering: .relaxed) >= earliest }
    }

    /// Records that a loop has no more work; ends all data loops when this was the last one.
    ///
    /// A loop without connections still forwards notifications that other loops sent to its former devices, and returns
    /// the queues of these devices, which an administrator's request may need.
    package func loopIsDone() {
        guard workingCount.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        for mailbox in dataLoops { mailbox.post(.end) }
    }
}

/// The time of a loop's last tick.
private final class TickCell: Sendable {
    // Relaxed ordering suffices, because no other data depends on it. A loop that has not ticked yet counts as running.
    let seconds = Atomic<Int64>(.max)
}

/// The limits of connections without a proven credential.
package struct StrangerLimits: Sendable {
    /// The time that a connection may stay open.
    package var authenticationTimeout: Duration
    /// The number of streams that peers are told they may open.
    package var streamCountMax: Int

    package init(authenticationTimeout: Duration, streamCountMax: Int) {
        self.authenticationTimeout = authenticationTimeout
        self.streamCountMax = streamCountMax
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
