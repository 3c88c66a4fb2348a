// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The thread of a node's store: an event loop with the `ClusterStore`, its shard and the outcomes of its workers.
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

    private let loop: EventLoop
    private let instance: InstanceID
    private let configuration: PostgresStoreConfiguration
    private let receivers: [any StoreReplyReceiver]
    private let workers: [RequestWorker]
    private let onFatal: @Sendable (StoreError) -> Void
    private let metrics: StoreMetrics
    private var store: ClusterStore?
    private var shard: PostgresShard?
    private var certificates: LinkCertificates?
    private var links: NodeLinks? { certificates?.links }
    private var history: HistoryFeed
    /// The changes that the current request of each worker has made so far.
    private var groups: [ChangeGroup?]
    /// The nodes that wait until this one has read a version of the control data.
    private var controlQuestions: [(number: Int64, version: Int64, from: InstanceID)] = []
    private var quotas: QuotaExchange?
    private var observer: ClusterObserver
    private var meter: ClusterMeter
    private var lastHeartbeat = MonotonicTime.past
    /// The time of the next step of a sweep; `future` during a step.
    private var sweepDue = MonotonicTime.now
    /// The replies of this turn by loop.
    private var replies: [UInt32: [StoreReply]] = [:]
    /// Whether the current turn of the loop has begun one of the store.
    private var isInTurn = false
    private var timer: TimerID?
    private var isStopping = false
    /// The version of the control data in the last directory.
    private var directoryVersion: UInt64?

    init(
        _ loop: EventLoop, _ configuration: PostgresStoreConfiguration, _ instance: InstanceID,
        receivers: [any StoreReplyReceiver], workers: [RequestWorker], historyWorker: RequestWorker,
        mailbox: Mailbox<Message>, metrics: StoreMetrics,
        onFatal: @escaping @Sendable (StoreError) -> Void
    ) throws {
        self.loop = loop
        self.instance = instance
        self.configuration = configuration
        self.receivers = receivers
        self.workers = workers
        self.onFatal = onFatal
        self.metrics = metrics
        observer = ClusterObserver(instance, configuration)
        meter = ClusterMeter(metrics.cluster ?? ClusterMetrics())
        history = HistoryFeed(historyWorker)
        groups = Array(repeating: nil, count: workers.count + 1)
        var node = NodeConfiguration(instance, now: configuration.store.now)
        node.patienceMilliseconds = configuration.patienceMilliseconds
        node.routeCountMax = configuration.routeCountMax
        node.reviewMilliseconds = configuration.reviewMilliseconds
        node.hasTrace = configuration.store.hasTrace
        node.powerSavingDelayMilliseconds = configuration.store.powerSavingDelayMilliseconds
        let notify = configuration.store.onNotice
        node.onDamagedRow = { notify(.damagedRow(sequence: $0)) }
        store = ClusterStore(node, shardCount: 1, output: self)
        shard = try PostgresShard(on: loop, to: configuration.address, configuration.session, instance, handlers())
        certificates = try configuration.links.map { try LinkCertificates($0, instance, on: loop) }
        links?.delegate = self
        try loop.attach(mailbox) { [weak self] messages in self?.take(messages) }
    }

    /// Lets a worker read the secrets if they may have changed.
    private func reviewSecrets(_ heartbeat: ShardResult.Heartbeat) {
        guard let keeper = configuration.links?.keeper, let store,
            keeper.noteHeartbeat(
                leaseMilliseconds: store.leaseMilliseconds, controlVersion: heartbeat.controlVersion, at: .now)
        else { return }
        if !workers[0].submit(.reviewSecrets) { keeper.endReview() }
    }

    private func handlers() -> PostgresShard.Handlers {
        let report = { [weak self, configuration] (reason: String?) in
            self?.observer.connectionProblem = reason
            configuration.onConnection(reason)
        }
        return PostgresShard.Handlers(
            connected: { [weak self] in
                report(nil)
                self?.meter.connectionChanged(isOpen: true)
                self?.turn { $0.connected(toShard: 0) }
            },
            lost: { [weak self] error in
                report(error.message)
                self?.meter.connectionChanged(isOpen: false)
                self?.turn { $0.disconnected(fromShard: 0) }
            },
            unreachable: { report($0.message) },
            answered: { [weak self] result, number in
                self?.turn { $0.take(result, of: number, fromShard: 0) }
                self?.observer.connectionProblem = nil
                self?.meter.answered(at: .now)
                if let heartbeat = result.heartbeat { self?.noteNodes(heartbeat) }
            },
            refused: { [weak self] error, number in
                report(error.message)
                self?.turn { $0.refused(number, byShard: 0) }
            })
    }

    /// Runs until `stop`.
    func run() {
        shard?.start()
        _ = workers[0].submit(.readDirectory)
        turn { _ in }
        loop.run()
        links?.stop()
        shard?.stop()
        if let store { history.end(store) }
        store = nil
    }

    // MARK: Turns

    /// Calls a closure in a turn of the store, which ends with the turn of the loop.
    private func turn(_ body: (ClusterStore) -> Void) {
        guard let store else { return }
        if !isInTurn {
            isInTurn = true
            store.beginTurn(at: .now)
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
        for device in store.takeDevicesToTrim() { _ = workers[1 % workers.count].submit(.trim(device)) }
        if let timer { loop.cancel(timer) }
        timer = nil
        if store.isSuperseded { return fail() }
        if isStopping, store.isIdle { return loop.stop() }
        let due = min(store.nextDue, history.nextDue ?? .future)
        guard due < .future else { return }
        timer = loop.schedule(after: max(due.duration(since: .now), .zero)) { [weak self] in
            self?.timer = nil
            self?.turn { _ in }
        }
    }

    private func fail() {
        guard !isStopping else { return }
        isStopping = true
        let text = "another start of the node \(configuration.node) has its number"
        onFatal(.locked(path: "\(configuration.address)", code: "nodes", text: text))
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
                _ = workers[0].submit(.readDirectory)
            case .stop: stopWhenIdle()
            }
        }
    }

    /// Stops when what was asked of the node is written, at the latest after a second.
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
            if let device = credential.device {
                attach(device, credential, stream, agent, store)
            } else {
                submit(
                    .identify(credential, stream: stream, agent: agent), of: credential.secretHash.first, answer: stream
                )
            }
        case .acknowledge(let acknowledgements, let device): store.acknowledge(acknowledgements, by: device)
        case .detach(let stream): store.detach(stream: stream)
        case .publish(let broadcast, let answer):
            guard let publication = store.beginPublication(answer: answer) else { return }
            if !workers[0].submit(.publish(broadcast, publication)) { store.refuse(publication, .serviceUnavailable) }
        case .perform(.cluster(.status), let answer):
            // Without PostgreSQL, a worker would try to connect for a long time.
            guard observer.connectionProblem == nil, workers[workers.count - 1].submit(.readServerState(answer: answer))
            else { return answerStatus(nil, to: answer, store) }
        case .perform(.cluster(.change(let change)), let answer):
            submit(.changeNode(change, answer: answer), of: nil, answer: answer)
        case .perform(.cluster(.keys(let change)), let answer):
            submit(.changeKeys(change, answer: answer), of: nil, answer: answer)
        case .perform(.allDevices(.trace(let query)), let answer) where store.trace != nil:
            guard !history.search(query, answer, store) else { return }
            reply(.performed(.failure(.busy), answer: answer), to: answer)
        case .perform(.device(.acknowledge(let acknowledgements), let credential), let answer)
        where acknowledgements.count <= Limits.acknowledgementBatchCountMax
            && store.acknowledge(acknowledgements, by: credential):
            reply(.performed(.success(.done), answer: answer), to: answer)
        case .perform(let request, let answer):
            submit(.perform(request, answer: answer), of: request.workerHint, answer: answer)
        case .host: break
        }
    }

    private func attach(
        _ device: DeviceID, _ credential: DeviceCredential, _ stream: ReplyAddress, _ agent: String,
        _ store: ClusterStore
    ) {
        store.attach(device, secretHash: credential.secretHash, stream: stream)
        _ = workers[1 % workers.count].submit(.noteSeen(device, agent: agent))
    }

    /// Submits a job; the requests of one device go to one worker, so that they keep their order.
    private func submit(_ job: RequestWorker.Job, of hint: UInt8?, answer: ReplyAddress) {
        guard !workers[Int(hint ?? 0) % workers.count].submit(job) else { return }
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
        case .identified(let device?, let credential, let stream, let agent):
            attach(device, credential, stream, agent, store)
        case .identified(nil, _, let stream, _):
            reply(.performed(.failure(.unauthorized), answer: stream), to: stream)
        case .historyWritten(let isComplete): history.noteWritten(isComplete: isComplete)
        case .traceEnd(let end): metrics.set(.traceEnd, to: Int(end))
        case .directory(let directory, let quotaLimits, let nodes):
            quotas?.setLimits(quotaLimits, version: directory.version)
            publish(directory)
            store.setTeams(of: directory.topics)
            answerControl(of: Int64(directory.version), store)
            if let group = groups[worker] {
                store.announceControl(version: Int64(directory.version), to: nodes, in: group)
            }
        case .published(let result, let publication):
            groups[worker] = nil
            store.finish(publication, result)
        case .trimmed: groups[worker] = nil
        case .broadcasts(let broadcasts): store.take(stored: broadcasts)
        case .nodeChanged(let result, let address):
            store.readNodesSoon()
            reply(.performed(result, answer: address), to: address)
        case .authorityChanged: certificates?.replace()
        case .serverState(let state, let address): answerStatus(state, to: address, store)
        case .swept(let expiredCount, let isMore):
            groups[worker] = nil
            store.noteExpired(expiredCount)
            let isSubmitted = isMore && workers[worker].submit(.sweep)
            let pause = configuration.sweepQuestionMilliseconds
            sweepDue = isSubmitted ? .future : MonotonicTime.now.advanced(byMilliseconds: pause)
        }
    }

    private func answerStatus(_ state: ServerState?, to address: ReplyAddress, _ store: ClusterStore) {
        let report = observer.report(store, state, at: .now)
        reply(.performed(.success(.cluster(report)), answer: address), to: address)
    }

    private func publish(_ directory: Directory) {
        // Two workers may have read directories in the other order.
        guard directory.version >= directoryVersion ?? 0 else { return }
        directoryVersion = directory.version
        for loop in receivers.indices { replies[UInt32(loop), default: []].append(.directory(directory)) }
    }

    private func reply(_ reply: StoreReply, to address: ReplyAddress) {
        replies[address.loop, default: []].append(reply)
    }

    // MARK: Nodes

    /// Connects to the nodes that a heartbeat found, and reads the control data if they have another version.
    private func noteNodes(_ heartbeat: ShardResult.Heartbeat) {
        observer.note(heartbeat, at: .now)
        // A node that is cut off from PostgreSQL must hear that others are not.
        let recent = heartbeat.nodes.filter { $0.heartbeatAgeMilliseconds < ClusterLimits.linkMilliseconds }
        let nodes = recent.compactMap { node in
            node.address.flatMap { LinkedNode.Address($0) }.map { LinkedNode(instance: node.instance, address: $0) }
        }
        links?.setNodes(nodes)
        certificates?.renewIfDue()
        reviewSecrets(heartbeat)
        let isLate = lastHeartbeat.advanced(byMilliseconds: ClusterLimits.broadcastMilliseconds / 2) < .now
        lastHeartbeat = .now
        if isLate {
            // Heartbeats name only broadcasts that were stored lately.
            _ = workers[0].submit(.readBroadcasts(from: 0))
        } else if let number = store?.leastUnknownBroadcast(of: heartbeat.broadcasts) {
            _ = workers[0].submit(.readBroadcasts(from: number))
        }
        if sweepDue <= .now, workers[0].submit(.sweep) { sweepDue = .future }
        guard let directoryVersion, heartbeat.controlVersion > Int64(directoryVersion) else { return }
        _ = workers[0].submit(.readDirectory)
    }

    func linkChanged(to instance: InstanceID, isUp: Bool) {
        turn { $0.linkChanged(to: instance, isUp: isUp) }
    }

    func take(_ messages: [NodeMessage], from instance: InstanceID) {
        turn { store in
            for message in messages {
                switch message {
                case .rates(let uses): quotas?.charge(uses, from: instance)
                case .control(let number, let version):
                    controlQuestions.append((number, version, instance))
                    if Int64(directoryVersion ?? 0) < version { _ = workers[0].submit(.readDirectory) }
                default: store.take(message, from: instance)
                }
            }
            answerControl(of: Int64(directoryVersion ?? 0), store)
        }
    }

    /// Answers the nodes that wait until this one uses a version of the control data.
    private func answerControl(of version: Int64, _ store: ClusterStore) {
        store.usesControl(version: version)
        for question in controlQuestions where question.version <= version {
            links?.send([.done(number: question.number)], to: question.from)
        }
        controlQuestions.removeAll { $0.version <= version }
    }

    // MARK: Output of the store

    func send(_ batch: ShardBatch, number: Int64, toShard index: Int) {
        meter.sent(batch, at: .now)
        shard?.send(batch, number: number)
    }

    func send(_ messages: [NodeMessage], to instance: InstanceID) { links?.send(messages, to: instance) }

    func reply(_ new: [StoreReply], toLoop loop: UInt32) { replies[loop, default: []] += new }
}
