// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// A thread that performs requests on blocking connections to PostgreSQL, one for each shard.
///
/// The requests of a device, or of another principal, keep their order. Principals take turns, also between the steps of
/// a long request.
final class RequestWorker: Sendable {
    /// A request to a worker.
    enum Job: Sendable {
        case perform(StoreRequest, answer: ReplyAddress)
        /// Verifies a credential, and finds its device if it has no ID, to open a stream.
        case identify(DeviceCredential, stream: ReplyAddress, agent: String)
        case noteSeen(DeviceID, agent: String?)
        case readDirectory
        case publish(Broadcast, Publication)
        /// Applies the bounds to the waiting notifications of a device.
        case trim(DeviceID)
        /// Reads the stored broadcasts from a number on.
        case readBroadcasts(from: Int64)
        case changeNode(NodeChange, answer: ReplyAddress)
        /// Makes a step of a move of slots, for an administrator or by this node.
        case moveSlots(SlotMover.Step, answer: ReplyAddress?)
        /// Ends an upgrade of the tables.
        case finishUpgrade(answer: ReplyAddress)
        /// Changes the keys of the cluster if a change is given, and describes them.
        case changeKeys(KeyChange?, answer: ReplyAddress)
        /// Reads the secrets of the cluster, and uses them.
        case reviewSecrets
        /// Reads the state of PostgreSQL for an administrator.
        case readServerState(ofShards: Set<Int>, answer: ReplyAddress)
        /// Makes the next step of a sweep of a shard.
        case sweep(shard: Int)
        /// Writes the counts of this node's events, and reads the sizes of the tables.
        case exchangeCounts(AdminAPI.Counts)
        /// Writes events and delivery histories.
        case writeHistory([TraceEvent], [DeliveryHistory.Copy])
        case search(TraceQuery, answer: ReplyAddress)
        /// Reports that all earlier jobs are done.
        case confirm
    }

    /// The control data that all nodes keep in memory.
    struct ControlData: Sendable {
        var directory: Directory
        var quotaLimits: [QuotaSubject: QuotaLimits]
        var slots: SlotMap
        var databases: ShardDatabases
        /// After a change, the nodes that may have read the former data.
        var nodes: [InstanceID] = []
    }

    /// The outcome of a job, or an effect of it.
    enum Outcome: Sendable {
        case effects(PostgresEffects)
        case performed(PostgresRequests.Answer, answer: ReplyAddress)
        case identified(DeviceID?, DeviceCredential, stream: ReplyAddress, agent: String)
        case directory(ControlData)
        case published(PostgresRequests.PublishResult, Publication)
        case broadcasts([PublishedBroadcast])
        case trimmed
        case nodeChanged(Result<StoreAnswer, StoreRefusal>, answer: ReplyAddress)
        /// The authority of links is another one than before.
        case authorityChanged
        /// A step of a move of slots was made, or failed.
        case slotsMoved(SlotMover.Outcome, answer: ReplyAddress?)
        /// The states of the shards; nil for those that could not be read.
        case serverStates([ServerState?], answer: ReplyAddress)
        /// A step of a sweep, which deleted some expired broadcasts.
        case swept(shard: Int, expiredCount: Int, isMore: Bool)
        /// The sizes of the tables, and for each shard its state, if it could be read; nil if nothing was read.
        case counts((sizes: StoreSizes, states: [ServerState?])?)
        /// Events and delivery histories were written, or some of them wait for the next write.
        case historyWritten(isComplete: Bool)
        case traceEnd(Int64)
        /// The job with a number waits for its next step, while others are performed.
        case suspended(Int64)
        case resumed(Int64)
        /// All jobs before `confirm` are done.
        case confirmed
    }

    private let queue = Lock(RequestQueue())
    /// The time from which no job waits for PostgreSQL.
    private let waitEnd = Lock(MonotonicTime.future)
    private let wakeUp: WorkerSignal
    private let thread = Lock<Thread?>(nil)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the connection.
    ///   - instance: The instance of this node.
    ///   - bounds: The bounds of the store.
    ///   - slots: The shards of all devices.
    ///   - databases: The databases that the node found when it started.
    ///   - patientShards: The shards for which a job waits until they can be reached.
    ///   - report: Called on the worker's thread with each outcome.
    init(
        _ configuration: PostgresStoreConfiguration, _ instance: InstanceID, _ bounds: StoreBounds,
        _ slots: Lock<SlotMap>, _ databases: ShardDatabases, patientShards: Range<Int>,
        report: @escaping @Sendable (Outcome) -> Void
    ) {
        wakeUp = WorkerSignal()
        let started = Thread(name: "requests") { [self] in
            let connections = { [waitEnd] (configuration: PostgresStoreConfiguration, patientShards: Range<Int>) in
                ShardConnections(
                    configuration, instance, bounds, slots, databases, patientShards: patientShards,
                    waitEnd: { waitEnd.withLock { $0 } })
            }
            var inquiry = configuration
            inquiry.answerTimeout = .seconds(2)
            let session = RequestSession(
                configuration, instance, connections(configuration, patientShards),
                inquiries: connections(inquiry, 0..<0), report: report)
            while let turn = next(waits: !session.isSearching) {
                if let turn, !session.run(turn) { queue.withLock { $0.putBack() } }
                session.continueSearch()
            }
        }
        thread.withLock { $0 = started }
    }

    /// The number of jobs that wait.
    var waitingCount: Int { queue.withLock { $0.count } }

    /// Submits a job; returns false when too many wait.
    func submit(_ job: Job) -> Bool {
        guard queue.withLock({ $0.append(job, at: .now) }) else { return false }
        wakeUp.signal()
        return true
    }

    /// Accepts no further job.
    ///
    /// - Parameter milliseconds: The time for which jobs may still wait for connections to PostgreSQL.
    func close(waitingFor milliseconds: Int) {
        waitEnd.withLock { $0 = MonotonicTime.now.advanced(byMilliseconds: Int64(milliseconds)) }
        queue.withLock { $0.isClosed = true }
        wakeUp.signal()
    }

    /// Waits until a closed worker has done its jobs and its thread has ended.
    func join() {
        thread.withLock { thread in
            let ending = thread
            thread = nil
            return ending
        }?.join()
    }

    /// Returns the next job; nil after the last one, and an empty optional while the queue is empty and it does not wait.
    private func next(waits: Bool) -> RequestQueue.Turn?? {
        while true {
            let (next, isClosed) = queue.withLock { ($0.next(), $0.isClosed) }
            if let next { return .some(next) }
            if isClosed { return nil }
            guard waits else { return .some(nil) }
            wakeUp.wait()
        }
    }
}
