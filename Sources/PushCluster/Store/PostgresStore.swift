// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushPostgres
package import PushStore

/// The store of a node in PostgreSQL.
package final class PostgresStore: ServerStore {
    private enum State {
        case opened
        case running(Thread, ShardWorkers)
        case stopped
    }

    /// The bounds, which may change while the store runs.
    package let bounds: StoreBounds
    package let metrics: StoreMetrics
    /// The instance of this node.
    package let instance: InstanceID
    private let configuration: PostgresStoreConfiguration
    private let mailbox: Mailbox<ClusterThread.Message>
    private let state: Lock<State>
    /// The shards of all devices.
    private let slots: Lock<SlotMap>
    private let databases: ShardDatabases

    /// Connects to PostgreSQL, checks it, creates the tables if they do not exist, and registers this node.
    ///
    /// - Parameter configuration: The address, the node and the bounds.
    /// - Throws: The problem, whose description says what to do.
    package init(_ configuration: PostgresStoreConfiguration) throws(PostgresStoreError) {
        self.configuration = configuration
        bounds = StoreBounds(configuration.store)
        metrics = StoreMetrics(cluster: ClusterMetrics(shardCount: configuration.addresses.count))
        do {
            mailbox = try Mailbox()
        } catch {
            throw .noDescriptor(error)
        }
        let registration = try ClusterRegistration(configuration)
        instance = try registration.register()
        slots = Lock(registration.slots)
        databases = registration.databases
        configuration.onRegistered(instance)
        state = Lock(.opened)
    }

    deinit { stop() }

    /// Starts the threads, which execute commands.
    ///
    /// Call it once.
    ///
    /// - Parameters:
    ///   - receivers: `receivers[i]` receives the replies for loop i. The first one is the directory.
    ///   - onFatal: Called once, on the store's thread, when the node must exit: it was removed or was started again,
    ///     devices have moved to a database that it does not use, or the kernel has no descriptors.
    package func start(receivers: [any StoreReplyReceiver], onFatal: @escaping @Sendable (any StoreFailure) -> Void) {
        state.withLock { state in
            guard case .opened = state else { preconditionFailure("the store was started twice") }
            let (configuration, bounds, mailbox) = (configuration, bounds, mailbox)
            let (instance, metrics) = (instance, metrics)
            let (slots, databases) = (slots, databases)
            let workers = ShardWorkers(configuration, slots) { index, patientShards in
                RequestWorker(configuration, instance, bounds, slots, databases, patientShards: patientShards) {
                    mailbox.post(.outcome($0, worker: index))
                }
            }
            let thread = Thread(name: "store") {
                do {
                    try ClusterThread(
                        try EventLoop(), configuration, instance, receivers: receivers, workers: workers,
                        slots: slots, databases: databases, mailbox: mailbox, metrics: metrics, onFatal: onFatal
                    ).run()
                } catch {
                    onFatal(StoreError.cannotOpen(path: "epoll", code: "", text: "\(error)"))
                }
            }
            state = .running(thread, workers)
        }
    }

    package func share(_ quotas: any SharedQuotas) { mailbox.post(.quotas(quotas)) }

    /// Creates the host of a loop, which passes everything on: the store's own thread hosts the devices.
    package func makeHost(
        loop: UInt32, metrics: HostMetrics, deliver: @escaping (StoreReply) -> Void
    ) -> LoopHost {
        LoopHost(passingOnTo: self, deliver: deliver)
    }

    /// Submits a batch from any thread and returns immediately.
    package func submit(_ commands: inout [StoreCommand]) {
        guard !commands.isEmpty else { return }
        mailbox.post(.commands(commands))
        commands.removeAll(keepingCapacity: true)
    }

    /// Stops the threads; blocks until then.
    package func stop() {
        let running: (Thread, ShardWorkers)? = state.withLock { state in
            defer { state = .stopped }
            guard case .running(let thread, let workers) = state else { return nil }
            return (thread, workers)
        }
        guard let (thread, workers) = running else { return }
        workers.stopRequests()
        mailbox.post(.stop)
        thread.join()
        // The worker of the history stops last, because it writes the last events of the thread.
        workers.stopHistory()
    }
}
