// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The thread of a node's store: an event loop for the `ClusterStore`, its shards and the outcomes of its workers.
///
/// ```
/// loops ──commands──▶ mailbox ──▶ ClusterStore ──batches──▶ PostgresShard
///   ▲                    ▲  └──requests──▶ RequestWorker       │
///   └────replies─────────┼───────────────────outcomes──────────┘ results
/// ```
final class ClusterThread: ClusterOutput, NodeLinksDelegate {
    /// A message to the thread.
    enum Message: Sendable {
        case commands([StoreCommand])
        case outcome(RequestWorker.Outcome, worker: Int)
        case quotas(any SharedQuotas)
        case stop
    }

    private struct SuspendedJob: Hashable {
        var worker: Int
        var number: Int64
    }

    private let loop: EventLoop
    let instance: InstanceID
    let configuration: PostgresStoreConfiguration
    private let receivers: [any StoreReplyReceiver]
    let workers: ShardWorkers
    let slots: Lock<SlotMap>
    /// The databases that this node uses.
    let databases: ShardDatabases
    private let onFatal: @Sendable (any StoreFailure) -> Void
    let metrics: StoreMetrics
    var store: ClusterStore?
    private var shards: [PostgresShard] = []
    var certificates: LinkCertificates?
    var links: NodeLinks? { certificates?.links }
    private var history: HistoryFeed
    /// The changes that the current request of each worker has made so far.
    private var groups: [ChangeGroup?]
    /// The changes of requests that wait for their next step.
    private var suspended: [SuspendedJob: ChangeGroup] = [:]
    /// The nodes that wait until this one has read a version of the control data.
    var controlQuestions: [(number: Int64, version: Int64, from: InstanceID)] = []
    var quotas: QuotaExchange?
    var observer: ClusterObserver
    private var meter: ClusterMeter
    /// The work under the former assignment of slots; nil when this work is done.
    var settlement: SlotSettlement?
    var lastHeartbeat = MonotonicTime.past
    private var leases = LeaseReport()
    /// The last known agreement of the clocks of this machine and of PostgreSQL.
    var clock = ClockAgreement.agrees
    /// The times of the next steps of sweeps by shard; `future` during a step.
    var sweepsDue: [MonotonicTime]
    /// The replies of this turn by loop.
    private var replies: [UInt32: [StoreReply]] = [:]
    /// Whether a turn of the store has begun in the current turn of the loop.
    private var isInTurn = false
    private var timer: TimerID?
    private var isStopping = false
    /// The time since which slots have moved without this node; nil while no slots move, and during its own move.
    var slotsMoveSince: MonotonicTime?
    var isMovingSlots = false
    /// The time of the next clean-up after a move of slots.
    var cleanDue = MonotonicTime.past
    /// The version of the control data in the last directory.
    var directoryVersion: UInt64?
    /// The last version of the control data that no longer allows everything that the one before allowed.
    var checksVersion: Int64 = 0
    /// The last directory that was sent to the loops.
    private var directory: Directory?

    init(
        _ loop: EventLoop, _ configuration: PostgresStoreConfiguration, _ instance: InstanceID,
        receivers: [any StoreReplyReceiver], workers: ShardWorkers, slots: Lock<SlotMap>, databases: ShardDatabases,
        mailbox: Mailbox<Message>, metrics: StoreMetrics,
        onFatal: @escaping @Sendable (any StoreFailure) -> Void
    ) throws {
        self.loop = loop
        self.instance = instance
        self.configuration = configuration
        self.receivers = receivers
        self.workers = workers
        self.slots = slots
        self.databases = databases
        self.onFatal = onFatal
        self.metrics = metrics
        observer = ClusterObserver(instance, configuration)
        meter = ClusterMeter(metrics, workers, configuration)
        history = HistoryFeed(workers.history)
        groups = Array(repeating: nil, count: workers.count)
        let addresses = configuration.addresses
        sweepsDue = Array(repeating: .now, count: addresses.count)
        var node = NodeConfiguration(instance, now: configuration.store.now)
        node.patienceMilliseconds = configuration.patienceMilliseconds
        node.routeCountMax = configuration.routeCountMax
        node.reviewMilliseconds = configuration.reviewMilliseconds
        node.clockDifferenceMillisecondsMax = configuration.clockDifferenceMillisecondsMax
        node.hasTrace = configuration.store.hasTrace
        node.metrics = metrics
        node.powerSavingDelayMilliseconds = configuration.store.powerSavingDelayMilliseconds
        let notify = configuration.store.onNotice
        node.onDamagedRow = { notify(.damagedRow(sequence: $0)) }
        store = ClusterStore(
            node, slots: slots.withLock { $0 }, shardCount: addresses.count, output: self)
        shards = try addresses.enumerated().map { index, address in
            try PostgresShard(on: loop, to: address, configuration.batchSession, instance, handlers(ofShard: index))
        }
        certificates = try configuration.links.map { try LinkCertificates($0, instance, on: loop) }
        links?.delegate = self
        try loop.attach(mailbox) { [weak self] messages in self?.take(messages) }
    }

    private func handlers(ofShard index: Int) -> PostgresShard.Handlers {
        let report = { [weak self, configuration] (reason: String?) in
            self?.observer.setProblem(reason, ofShard: index)
            configuration.onConnection(index, reason)
        }
        return PostgresShard.Handlers(
            connected: { [weak self] in
                report(nil)
                self?.meter.connectionChanged(toShard: index, isOpen: true)
                self?.turn { $0.connected(toShard: index) }
            },
            lost: { [weak self] error in
                report(error.messageWithAdvice)
                self?.meter.connectionChanged(toShard: index, isOpen: false)
                self?.turn { $0.disconnected(fromShard: index) }
            },
            unreachable: { report($0.messageWithAdvice) },
            answered: { [weak self] result, number in
                self?.turn { $0.take(result, of: number, fromShard: index) }
                self?.observer.setProblem(nil, ofShard: index)
                self?.meter.answered(byShard: index, at: .now)
                if let heartbeat = result.heartbeat { self?.noteHeartbeat(heartbeat, ofShard: index) }
            },
            refused: { [weak self] error, result, number in
                report(error.messageWithAdvice)
                self?.turn { $0.refused(number, byShard: index, heartbeat: result.heartbeat) }
            },
            writesRefused: { [weak self] error, result, number in
                report(error.messageWithAdvice)
                self?.turn { $0.take(result, of: number, fromShard: index) }
                if let heartbeat = result.heartbeat { self?.noteHeartbeat(heartbeat, ofShard: index) }
            })
    }

    /// Runs until `stop`.
    func run() {
        for shard in shards { shard.start() }
        _ = workers.directory.submit(.readDirectory)
        turn { _ in }
        loop.run()
        links?.stop()
        for shard in shards { shard.stop() }
        if let store { history.end(store) }
        if let store { meter.end(store) }
        store = nil
    }

    // MARK: Turns

    /// Calls a closure in a turn of the store, which ends with the turn of the loop.
    func turn(_ body: (ClusterStore) -> Void) {
        guard let store else { return }
        if !isInTurn {
            isInTurn = true
            metrics.beginTurn(at: .now)
            store.beginTurn(at: .elapsed)
            loop.atEndOfTurn { [weak self] in self?.endTurn() }
        }
        body(store)
    }

    private func endTurn() {
        guard let store else { return }
        store.endTurn()
        isInTurn = false
        history.endTurn(store)
        sendReplies()
        metrics.set(store)
        meter.note(store, directoryVersion: directoryVersion)
        if let metrics = metrics.cluster { observer.measure(store, metrics, at: .now) }
        for change in leases.note(store.shards.queues.map(\.hasLease)) {
            configuration.onLease(change.shard, change.isHeld)
        }
        for device in store.takeDevicesToTrim() { _ = workers[device, 1].submit(.trim(device)) }
        settleSlots(store)
        if let timer { loop.cancel(timer) }
        timer = nil
        if store.isSuperseded { return fail(.superseded(configuration.node)) }
        if isStopping, store.isIdle { return loop.stop() }
        let soon = min(history.nextDue ?? .future, observer.nextDue)
        var wait = soon.duration(since: .now)
        if store.nextDue < .future { wait = min(wait, store.nextDue.duration(since: .elapsed)) }
        timer = loop.schedule(after: max(wait, .zero)) { [weak self] in
            self?.timer = nil
            self?.turn { _ in }
        }
    }

    /// Ends the node because it can no longer serve.
    func fail(_ error: PostgresStoreError) {
        guard !isStopping else { return }
        isStopping = true
        onFatal(error)
    }

    private func sendReplies() {
        for (loop, batch) in replies.sorted(by: { $0.key < $1.key }) where Int(loop) < receivers.count {
            receivers[Int(loop)].receive(batch)
        }
        replies.removeAll(keepingCapacity: true)
    }

    // MARK: Messages

    private func take(_ messages: [Message]) {
        for message in messages {
            switch message {
            case .commands(let commands): turn { store in for command in commands { take(command, store) } }
            case .outcome(let outcome, let worker): turn { store in take(outcome, from: worker, store) }
            case .quotas(let quotas):
                self.quotas = QuotaExchange(quotas, on: loop) { [weak self] in self?.links }
                // The limits may have changed since they were read.
                _ = workers.directory.submit(.readDirectory)
            case .stop: stopWhenIdle()
            }
        }
    }

    /// Stops when the node has written everything that was requested, at the latest after a second.
    private func stopWhenIdle() {
        guard !isStopping else { return loop.stop() }
        isStopping = true
        loop.schedule(after: .milliseconds(ClusterLimits.stopMilliseconds)) { [weak self] in self?.loop.stop() }
        turn { _ in }
    }

    private func take(_ command: StoreCommand, _ store: ClusterStore) {
        switch command {
        case .accept(let notification, let answer): store.accept(notification, answer: answer)
        case .attach(let credential, let stream, let agent):
            attach(credential, stream, agent, store)
        case .acknowledge(let acknowledgements, let device): store.acknowledge(acknowledgements, by: device)
        case .detach(let stream): store.detach(stream: stream)
        case .publish(let broadcast, let answer):
            store.publish(answer: answer) { [workers, weak store] publication in
                guard !workers.control.submit(.publish(broadcast, publication)) else { return }
                store?.refuse(publication, .serviceUnavailable)
            }
        case .perform(.cluster(.status), let answer):
            // A worker would try for a long time to connect to a shard that cannot be reached.
            let shards = observer.reachableShards
            guard shards.contains(0), workers.last.submit(.readServerState(ofShards: shards, answer: answer)) else {
                return answerStatus([], to: answer, store)
            }
        case .perform(.cluster(.moveSlots(let target, let count)), let answer):
            guard !isMovingSlots else {
                return reply(.performed(.failure(.slotsAreMoving), answer: answer), to: answer)
            }
            moveSlots(.begin(to: target, count: count), answer)
        case .perform(.cluster(.finishUpgrade), let answer):
            submit(.finishUpgrade(answer: answer), to: workers.control, answer: answer)
        case .perform(.cluster(.change(let change)), let answer):
            submit(.changeNode(change, answer: answer), to: workers.control, answer: answer)
        case .perform(.cluster(.keys(let change)), let answer):
            submit(.changeKeys(change, answer: answer), to: workers.control, answer: answer)
        case .perform(.allDevices(.trace(let query)), let answer) where store.trace != nil:
            guard !history.search(query, answer, store) else { return }
            reply(.performed(.failure(.busy), answer: answer), to: answer)
        case .perform(.device(.acknowledge(let acknowledgements), let credential), let answer)
        where acknowledgements.count <= Limits.acknowledgementBatchCountMax
            && store.acknowledge(acknowledgements, by: credential):
            reply(.performed(.success(.done), answer: answer), to: answer)
        case .perform(let request, let answer):
            submit(.perform(request, answer: answer), to: workers.worker(for: request), answer: answer)
        case .usesDirectory(let version, let loop): store.usesControl(version: Int64(version), onLoop: loop)
        case .host: break
        }
    }

    func submit(_ job: RequestWorker.Job, to worker: RequestWorker, answer: ReplyAddress) {
        guard !worker.submit(job) else { return }
        reply(.performed(.failure(.busy), answer: answer), to: answer)
    }

    private func take(_ outcome: RequestWorker.Outcome, from worker: Int, _ store: ClusterStore) {
        switch outcome {
        case .effects(let effects):
            store.note(effects)
            let group = groups[worker] ?? ChangeGroup()
            groups[worker] = group
            if effects.hasEvents, store.trace != nil { history.write(for: group) }
            store.apply(
                changed: effects.changedDevices.union(effects.removedDevices), saving: effects.savesPower, in: group)
        case .performed(let answer, let address):
            let result = answer.result.map { $0.completed(by: store.counters) }
            guard let group = groups[worker] else { return reply(.performed(result, answer: address), to: address) }
            groups[worker] = nil
            group.whenApplied { [weak self] in self?.reply(.performed(result, answer: address), to: address) }
        case .suspended(let number):
            suspended[SuspendedJob(worker: worker, number: number)] = groups[worker]
            groups[worker] = nil
        case .resumed(let number):
            groups[worker] = suspended.removeValue(forKey: SuspendedJob(worker: worker, number: number))
        case .identified(let device?, let credential, let stream, let agent):
            attach(device, credential, stream, agent, store)
        case .identified(nil, _, let stream, _):
            reply(.performed(.failure(.unauthorized), answer: stream), to: stream)
        case .historyWritten(let isComplete): history.noteWritten(isComplete: isComplete)
        case .traceEnd(let end): metrics.set(.traceEnd, to: Int(end))
        case .directory(let data): take(data, groups[worker], store)
        case .confirmed: settlement?.noteConfirmed()
        case .published(let result, let publication):
            groups[worker] = nil
            store.finish(publication, result)
        case .trimmed: groups[worker] = nil
        case .broadcasts(let broadcasts): store.take(stored: broadcasts)
        case .nodeChanged(let result, let address):
            store.readNodesSoon()
            reply(.performed(result, answer: address), to: address)
        case .authorityChanged: certificates?.replace()
        case .counts(let counts):
            meter.take(counts)
            observer.note(counts?.states ?? [])
        case .slotsMoved(let outcome, let address):
            take(outcome, in: groups[worker], answer: address)
            groups[worker] = nil
        case .serverStates(let states, let address): answerStatus(states, to: address, store)
        case .swept(let shard, let expiredCount, let isMore):
            groups[worker] = nil
            store.noteExpired(expiredCount)
            let isSubmitted = isMore && workers[worker].submit(.sweep(shard: shard))
            let pause = configuration.sweepQuestionMilliseconds
            sweepsDue[shard] = isSubmitted ? .future : MonotonicTime.now.advanced(byMilliseconds: pause)
        }
    }

    private func take(_ data: RequestWorker.ControlData, _ group: ChangeGroup?, _ store: ClusterStore) {
        let version = Int64(data.directory.version)
        quotas?.setLimits(data.quotaLimits, version: data.directory.version)
        use(data.slots, of: data.databases, version: version, group, store)
        publish(data.directory)
        store.setTeams(of: data.directory.topics)
        answerControl(store)
        if let group { store.announceControl(version: version, to: data.nodes, in: group) }
    }

    private func publish(_ directory: Directory) {
        // Two workers may have read directories in the other order.
        guard directory.version >= directoryVersion ?? 0 else { return }
        directoryVersion = directory.version
        let isLess = self.directory.map { !directory.allowsAll(allowedBy: $0) } ?? true
        if isLess { checksVersion = Int64(directory.version) }
        self.directory = directory
        for loop in receivers.indices { replies[UInt32(loop), default: []].append(.directory(directory)) }
    }

    func reply(_ reply: StoreReply, to address: ReplyAddress) {
        replies[address.loop, default: []].append(reply)
    }

    // MARK: Output of the store

    func send(_ batch: ShardBatch, number: Int64, toShard index: Int) {
        meter.sent(batch, toShard: index, at: .now)
        shards[index].send(batch, number: number)
    }

    func send(_ messages: [NodeMessage], to instance: InstanceID) { links?.send(messages, to: instance) }

    func reply(_ new: [StoreReply], toLoop loop: UInt32) {
        noteSeen(new)
        replies[loop, default: []] += new
    }
}
