// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The embedded store: one SQLite file, one writer thread, group commit.
package final class SQLiteStore: ServerStore {
    package typealias Configuration = StoreConfiguration

    private enum State {
        case opened(OpenedStore)
        /// The thread is nil if the caller runs the writer's turns.
        case running(Thread?, HostSharing)
        case stopped
    }

    /// The bounds, which may change while the store runs.
    package let bounds: StoreBounds
    package let metrics: StoreMetrics
    private let queue: CommandQueue
    private let state: Lock<State>

    /// Opens or creates the file and migrates the schema.
    ///
    /// - Parameter configuration: The file, the bounds and the clocks.
    /// - Throws: The problem with the file; its `remedy` says what to do. `locked` while another store has it open.
    package init(_ configuration: Configuration) throws(StoreError) {
        queue = CommandQueue()
        metrics = StoreMetrics(waitingCommands: queue.waitingCount)
        let opened = try OpenedStore(configuration, metrics)
        bounds = opened.bounds
        state = Lock(.opened(opened))
    }

    deinit { stop() }

    /// Starts the writer thread, which executes commands.
    ///
    /// Call it once.
    ///
    /// - Parameters:
    ///   - receivers: `receivers[i]` receives the replies for loop i. The first one is the directory.
    ///   - onFatal: Called once, on the store's thread, after a disk failure that makes further acknowledgements
    ///     unsafe. The process must exit and restart, which recovers. Until then, the store refuses every command.
    package func start(receivers: [any StoreReplyReceiver], onFatal: @escaping @Sendable (any StoreFailure) -> Void) {
        state.withLock { state in
            let (opened, sharing) = share(state, receivers)
            let thread = Thread(name: "store") { [queue] in
                Writer(opened, queue: queue, sharing, onFatal: onFatal).run()
            }
            state = .running(thread, sharing)
        }
    }

    /// Starts without a thread: the caller runs the turns of the writer, and closes it after `stop`.
    ///
    /// So a test runs the store and its hosts in one thread, in an order that it chooses.
    func startStepwise(receivers: [any StoreReplyReceiver]) -> Writer {
        state.withLock { state in
            let (opened, sharing) = share(state, receivers)
            state = .running(nil, sharing)
            return Writer(opened, queue: queue, sharing) { preconditionFailure($0.description) }
        }
    }

    private func share(_ state: State, _ receivers: [any StoreReplyReceiver]) -> (OpenedStore, HostSharing) {
        guard case .opened(let opened) = state else { preconditionFailure("the store was started twice") }
        let sharing = HostSharing(
            opened.executor.sequences, receivers: receivers, now: opened.configuration.now
        ) { [queue] commands in queue.append(&commands) }
        return (opened, sharing)
    }

    /// Creates the host of a loop; the store must be running.
    package func makeHost(
        loop: UInt32, metrics: HostMetrics, deliver: @escaping (StoreReply) -> Void
    ) -> LoopHost {
        let sharing: HostSharing = state.withLock { state in
            guard case .running(_, let sharing) = state else { preconditionFailure("the store does not run") }
            return sharing
        }
        return LoopHost(loop: loop, sharing, metrics: metrics, deliver: deliver)
    }

    /// Submits a batch from any thread and returns immediately.
    ///
    /// After `stop`, commands are dropped without an answer.
    package func submit(_ commands: inout [StoreCommand]) {
        if !commands.isEmpty { queue.append(&commands) }
    }

    /// Does nothing, because no other server uses the database.
    package func share(_ quotas: any SharedQuotas) {}

    /// Commits the submitted commands, sends the answers, closes the file and stops; blocks until then.
    ///
    /// Do not call it from a receiver or from `onFatal`, which run on the thread that it waits for. A second call does
    /// nothing.
    package func stop() {
        queue.close()
        let thread: Thread? = state.withLock { state in
            defer { state = .stopped }
            guard case .running(let thread, _) = state else { return nil }
            return thread
        }
        thread?.join()
    }
}
