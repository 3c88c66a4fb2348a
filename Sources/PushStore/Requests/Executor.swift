// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// Executes requests and broadcasts inside the writer's transaction.
///
/// Each subject has an executor of its own. They write to the tables and add the effects to the transaction.
final class Executor {
    /// The refusal of a command that was routed to the wrong part of the writer.
    static let misdirected =
        "internal error: the store routed a command to the wrong executor; please report this"

    let tables: StoreTables
    let transaction = StoreTransaction()
    let sequences: Sequences
    /// The in-memory records of devices.
    let queues: DeviceQueues
    let storedQueues: StoredQueues
    /// The delivery histories of devices.
    let histories: DeliveryHistories
    let trace: TraceRecorder
    let backups: BackupWork
    let authentication: DeviceAuthentication
    let apps: AppExecutor
    let traces: TraceExecutor
    let sweeper: Sweeper
    private let devices: DeviceExecutor
    private let registrations: RegistrationExecutor
    private let filters: FilterExecutor
    private let channels: ChannelExecutor
    private let subscriptions: SubscriptionExecutor
    private let broadcasts: BroadcastExecutor
    private let credentials: CredentialExecutor
    private let sendTokens: SendTokenExecutor
    private let policies: PolicyExecutor
    private let authorities: AuthorityExecutor
    private let quotas: QuotaExecutor
    private let webhooks: WebhookExecutor
    /// The time that requests have in this turn.
    var slice: RequestSlice
    /// The long work of which this transaction executed a step.
    private var advanced: [any LongWork] = []
    /// The tasks of this transaction whose work is not complete.
    private(set) var unfinished: [(task: StoreTask, work: any LongWork)] = []

    init(
        _ connection: Connection, _ configuration: StoreConfiguration, _ bounds: StoreBounds, now: Timestamp
    ) throws(SQLError) {
        tables = try StoreTables(connection)
        sequences = Sequences(stored: try tables.state.lastSequence())
        let lastRunning = try tables.state.lastRunning()
        let awayMilliseconds = configuration.awayMilliseconds
        queues = DeviceQueues(
            tables.registrations, tables.devices, tables.archive, countMax: configuration.deviceQueueCountMax,
            start: lastRunning.map { (at: now, expectsSince: $0.advanced(byMilliseconds: -awayMilliseconds)) })
        storedQueues = StoredQueues(tables, queues)
        histories = DeliveryHistories(
            tables.deliveryHistories, entryCountMax: max(configuration.deliveryHistoryCountMax, 1),
            entryCountInAllMax: max(configuration.deliveryHistoryInAllCountMax, 1))
        trace = try TraceRecorder(isOn: configuration.hasTrace, tables.trace)
        var recovery = TraceRecovery(end: trace.end.position)
        try tables.pending.forEachRecent(after: try tables.state.archivedThrough()) { [queues] row in
            queues.load(row)
            recovery.take(row)
        }
        backups = BackupWork(connection)
        slice = RequestSlice(clock: configuration.monotonicTime)
        authentication = DeviceAuthentication(tables.devices, transaction, bounds)
        registrations = RegistrationExecutor(tables, transaction, storedQueues)
        devices = DeviceExecutor(tables, transaction, storedQueues, authentication, registrations)
        filters = FilterExecutor(tables, transaction, storedQueues, sequences, authentication)
        channels = ChannelExecutor(
            tables, transaction, channelPerAppCountMax: configuration.channelPerAppCountMax)
        subscriptions = SubscriptionExecutor(tables, transaction, sequences, channels)
        broadcasts = BroadcastExecutor(tables, transaction, sequences)
        credentials = CredentialExecutor(tables, transaction)
        sendTokens = SendTokenExecutor(tables, transaction)
        policies = PolicyExecutor(tables, transaction, authentication)
        authorities = AuthorityExecutor(tables, transaction)
        quotas = QuotaExecutor(tables)
        apps = AppExecutor(tables, transaction, channels, registrations, policies)
        webhooks = WebhookExecutor(tables, transaction, trace)
        traces = TraceExecutor(tables, transaction, trace, bounds)
        sweeper = try Sweeper(
            tables, transaction, storedQueues, authentication, registrations, traces, bounds, now: now)
        do {
            try recovery.record(in: trace, tables, connection)
        } catch {
            // On a full disk, the trace of these notifications begins with their later events.
            guard error.kind == .full else { throw error }
        }
    }

    // MARK: A transaction

    /// Starts a transaction with an empty list of events.
    func begin(now: Timestamp) {
        transaction.begin(now: now)
        if !unfinished.isEmpty { unfinished = [] }
        if !advanced.isEmpty { advanced = [] }
        tables.archive.begin()
        trace.begin()
    }

    /// Executes a task or its next step; refuses it when it needs more disk access than is allowed.
    func execute(_ task: StoreTask, upTo allowance: DiskAccess) throws(SQLError) {
        guard task.command.need.rawValue <= allowance.rawValue else {
            return refuse(task.command, "the disk is full")
        }
        transaction.allowance = allowance
        if let work = task.progress { return try advance(work, of: task) }
        switch task.command {
        case .publish(let broadcast, let answer): try broadcasts.publish(broadcast, answer)
        case .perform(let request, let answer):
            let result = try execute(request, answer)
            if case .unfinished(let work) = result { try advance(work, of: task) } else { finish(task, result) }
        // `Writer.isForDispatcher` routes these commands to the dispatcher, so this case is unreachable.
        case .accept, .acknowledge, .attach, .detach, .host: refuse(task.command, Self.misdirected)
        }
    }

    /// Executes a step of long work, and further steps while the slice lasts and no other request waits.
    private func advance(_ work: any LongWork, of task: StoreTask) throws(SQLError) {
        advanced.append(work)
        repeat {
            let result = try work.step()
            guard case .unfinished = result else { return finish(task, result) }
        } while !slice.isShared && !slice.isOver
        unfinished.append((task, work))
    }

    /// Adds the answer to a request to the events.
    private func finish(_ task: StoreTask, _ result: RequestResult) {
        guard case .perform(let request, let answer) = task.command else { return }
        switch result {
        case .success(let value):
            if request.forbidsDeliveries {
                transaction.add(.finalReply(value, answer: answer))
            } else {
                transaction.add(.reply(.performed(.success(value), answer: answer)))
            }
        case .successAfterDeliveries(let value): transaction.add(.finalReply(value, answer: answer))
        case .failure(let refusal): transaction.add(.reply(.performed(.failure(refusal), answer: answer)))
        case .memoryQuery(let query): transaction.add(.memoryQuery(query, answer: answer))
        case .unfinished: break
        }
    }

    private func refuse(_ command: StoreCommand, _ text: String) {
        if let (reply, _) = StoreReply.unavailable(command, text) { transaction.add(.reply(reply)) }
    }

    /// Resets what the transaction changed in memory, after it was rolled back.
    func rolledBack() {
        sequences.end(isCommitted: false)
        trace.rolledBack()
        for work in advanced { work.restart() }
        advanced = []
        unfinished = []
    }

    /// Confirms the sequence limit and the trace of a committed transaction.
    func committed() {
        sequences.end(isCommitted: true)
        trace.committed()
    }

    /// Writes the transaction's common data as its last step: counts, the sequence limit and the trace.
    ///
    /// - Parameters:
    ///   - isClosing: Whether this is the last transaction.
    ///   - hasSpace: Whether the disk has space for the trace; otherwise it waits in memory.
    /// - Throws: The error that SQLite returned.
    func end(isClosing: Bool, hasSpace: Bool) throws(SQLError) {
        try tables.archive.end()
        if let reservation = sequences.reservation(isClosing: isClosing) {
            try tables.state.setLastSequence(reservation)
        }
        trace.record(transaction.events, at: transaction.now)
        if hasSpace { try trace.flushIfDue(into: tables.trace) }
    }

    // MARK: Requests

    /// Executes a request, or its first step.
    private func execute(_ request: StoreRequest, _ answer: ReplyAddress) throws(SQLError) -> RequestResult {
        switch request {
        case .enrol(let new): return try devices.enrol(new)
        case .device(let request, let credential):
            guard let device = try authentication.identify(credential) else { return .failure(.unauthorized) }
            return try execute(request, of: device)
        case .administer(let device, let request): return try devices.execute(request, on: device)
        case .allDevices(let request): return try execute(request, answer)
        case .control(let request): return try execute(request)
        case .backup(let order): return RequestResult(backups.begin(order))
        }
    }

    private func execute(_ request: DeviceRequest, of device: DeviceID) throws(SQLError) -> RequestResult {
        switch request {
        case .register(let topic, let environment): try registrations.register(device, topic, environment)
        case .unregister(let topic): try registrations.unregister(device, topic)
        case .subscribe(let topic, let channel): try subscriptions.subscribe(device, topic, channel)
        case .unsubscribe(let topic, let channel): try subscriptions.unsubscribe(device, topic, channel)
        case .subscriptions(let topic): try subscriptions.subscriptions(device, topic)
        case .setFilter(let topics): try filters.setFilter(device, topics)
        case .setPower(let isSaving): devices.setPower(device, isSaving)
        case .policy: policies.rules(for: device)
        case .confirmAuthorities(let version): try authorities.confirm(version, by: device)
        case .remove: try devices.execute(.remove, on: device)
        case .identify, .acknowledge: .failure(.unavailable(Self.misdirected))
        }
    }

    private func execute(_ request: AllDevicesRequest, _ answer: ReplyAddress) throws(SQLError) -> RequestResult {
        switch request {
        case .list(let after, let countMax): try devices.devices(after, countMax)
        case .counts: .memoryQuery(.counts)
        case .longestQueues(let countMax): .memoryQuery(.longestQueues(countMax: countMax))
        case .recipients(let topic, let devices, let countMax):
            try sendTokens.recipients(topic, devices: devices, countMax: countMax)
        case .trust: try authorities.trust()
        case .trace(let query): try traces.search(query, answer)
        }
    }

    private func execute(_ request: ControlRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .addApp(let topic, let name, let team, let checks, let allowsBroadcasts):
            try apps.addApp(topic, name, team, checks, allowsBroadcasts)
        case .changeApp(let topic, let name, let checks, let allowsBroadcasts):
            try apps.changeApp(topic, name, checks, allowsBroadcasts)
        case .apps: apps.apps()
        case .app(let topic): try apps.app(topic)
        case .removeApp(let topic): try apps.removeApp(topic)
        case .addKey(let key): try credentials.addKey(key)
        case .keys: credentials.allKeys()
        case .revokeKey(let id): try credentials.revokeKey(id)
        case .addCertificate(let certificate): try credentials.addCertificate(certificate)
        case .certificates: credentials.allCertificates()
        case .revokeCertificate(let fingerprint): try credentials.revokeCertificate(fingerprint)
        case .createChannel(let id, let topic, let environment, let policy):
            try channels.create(id, topic, environment, policy)
        case .channel(let id, let topic, let environment): try channels.channel(id, topic, environment)
        case .channels(let topic, let environment): try channels.channels(topic, environment)
        case .removeChannel(let id, let topic, let environment): try channels.remove(id, topic, environment)
        case .addEnrolmentCode(let hash, let expires): try credentials.addEnrolmentCode(hash, expires)
        case .enrolmentCodes: try credentials.unusedEnrolmentCodes()
        case .revokeEnrolmentCode(let id): try credentials.revokeEnrolmentCode(id)
        case .sendToken(let request): try sendTokens.execute(request)
        case .quota(let request): try quotas.execute(request)
        case .policy(let request): try policies.execute(request)
        case .announceAuthorities(let version): try authorities.announce(version)
        case .setWebhook(let topic, let url, let secret): try webhooks.set(topic, url, secret)
        case .removeWebhook(let topic): try webhooks.remove(topic)
        case .advanceWebhook(let topic, let position): try webhooks.advance(topic, to: position)
        case .noteWebhookProblem(let topic, let problem): try webhooks.noteProblem(topic, problem)
        }
    }
}

extension StoreRequest {
    /// Whether the request ends deliveries, so that nothing is delivered after its answer.
    fileprivate var forbidsDeliveries: Bool {
        switch self {
        case .device(.unregister, _), .device(.unsubscribe, _), .device(.setFilter, _), .device(.remove, _),
            .administer(_, .remove), .administer(_, .expire), .control(.removeApp), .control(.changeApp),
            .control(.removeChannel):
            true
        case .enrol, .device, .administer, .allDevices, .control, .backup: false
        }
    }
}
