// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Executes commands on the tables inside the writer's transaction, and lists their effects as events.
final class Executor {
    /// The result of a request.
    typealias Verdict = Result<StoreAnswer, StoreRefusal>

    /// The disk access that a command needs, in ascending order.
    ///
    /// A full disk allows only the lower ones.
    enum Need: Int {
        /// The command writes nothing.
        case reading
        /// The command deletes or marks rows.
        case shrinking
        /// The command adds rows.
        case growing
    }

    /// The settings of the store.
    struct Bounds {
        var pendingPerTopicCountMax: Int
        var pendingPerDeviceCountMax: Int
        var channelPerAppCountMax: Int
        /// The maximum number of device records in memory.
        var cardCountMax: Int
        /// The number of notifications sent to one device for which outcomes are recorded.
        var deliveryHistoryCountMax: Int
        /// The number of delivery history entries of all devices in memory.
        var deliveryHistoryInAllCountMax: Int
        /// The time after which the registrations of an unseen device expire; nil for never.
        var registrationLifeSeconds: Int64?
        /// Whether the trace is enabled.
        var hasTrace: Bool
        var traceLifeSeconds: Int64
        var traceByteCountMax: Int64
    }

    /// The refusal of a command that was routed to the wrong part of the writer.
    static let misdirected = "the store handed a command to the wrong part of itself; please report this"

    let topics: TopicTable
    let keys: KeyTable
    let certificates: CertificateTable
    let devices: DeviceTable
    let enrolmentCodes: EnrolmentCodeTable
    let registrations: RegistrationTable
    let pending: PendingTable
    let settled: ArchiveTable
    let channels: ChannelTable
    let subscriptions: SubscriptionTable
    let broadcasts: BroadcastTable
    let state: StateTable
    let webhooks: WebhookTable
    let traceTable: TraceTable
    let traceOrigins: TraceOrigins
    let trace: TraceRecorder
    let deliveryHistories: DeliveryHistoryTable
    /// The delivery histories of devices.
    let histories: DeliveryHistories
    let backups: BackupWork
    /// The in-memory records of devices.
    let cards: DeviceQueues
    let sequences: Sequences
    let quotas: QuotaTable
    let policies: PolicyTable
    let bounds: Bounds
    /// The time before which no device expires, in UNIX milliseconds, so that devices can reconnect after a long stop.
    let returnEndUnixMilliseconds: Int64
    /// The wall-clock time of this transaction in UNIX milliseconds.
    var now: Int64 = 0
    /// The effects of this transaction so far.
    var events: [StoreEvent] = []
    /// Whether apps, keys or certificates changed.
    var hasDirectoryChanged = false
    /// The disk access that is allowed now.
    private(set) var allowance = Need.growing
    /// The time that requests have in this turn.
    var slice = RequestSlice()
    /// The long work of which this transaction executed a step.
    private var advanced: [any LongWork] = []
    /// The tasks of this transaction whose work is not complete.
    private(set) var unfinished: [(task: StoreTask, work: any LongWork)] = []
    /// The long work that the current request started.
    private var begun: (any LongWork)?

    init(_ connection: Connection, _ bounds: Bounds, now: Int64) throws(SQLiteError) {
        self.bounds = bounds
        topics = try TopicTable(connection)
        keys = try KeyTable(connection)
        certificates = try CertificateTable(connection)
        devices = try DeviceTable(connection)
        enrolmentCodes = try EnrolmentCodeTable(connection)
        registrations = try RegistrationTable(connection)
        pending = try PendingTable(connection)
        settled = try ArchiveTable(connection)
        channels = try ChannelTable(connection)
        subscriptions = try SubscriptionTable(connection)
        broadcasts = try BroadcastTable(connection)
        state = try StateTable(connection)
        backups = BackupWork(connection)
        quotas = try QuotaTable(connection)
        policies = try PolicyTable(connection)
        webhooks = try WebhookTable(connection)
        traceTable = try TraceTable(connection)
        traceOrigins = TraceOrigins(traceTable)
        deliveryHistories = try DeliveryHistoryTable(connection)
        histories = DeliveryHistories(
            deliveryHistories, entryCountMax: max(bounds.deliveryHistoryCountMax, 1),
            entryCountInAllMax: max(bounds.deliveryHistoryInAllCountMax, 1))
        trace = try TraceRecorder(isOn: bounds.hasTrace, traceTable)
        returnEndUnixMilliseconds = Self.returnEnd(now: now, lastRunning: try state.lastRunning(), bounds)
        sequences = Sequences(stored: try state.lastSequence())
        cards = DeviceQueues(registrations, devices, settled, countMax: bounds.cardCountMax)
        try pending.forEachRecent(after: try state.settledThrough(), cards.load)
    }

    // MARK: A transaction

    /// Starts a transaction with an empty list of events.
    func begin(now: Int64) {
        self.now = now
        events.removeAll(keepingCapacity: true)
        hasDirectoryChanged = false
        begun = nil
        if !unfinished.isEmpty { unfinished = [] }
        if !advanced.isEmpty { advanced = [] }
        settled.begin()
        trace.begin()
    }

    /// Executes a task or its next step; refuses it when it needs more disk access than is allowed.
    func execute(_ task: StoreTask, upTo allowance: Need) throws(SQLiteError) {
        guard task.command.need.rawValue <= allowance.rawValue else {
            if let (reply, _) = StoreReply.unavailable(task.command, "the disk is full") {
                events.append(.reply(reply))
            }
            return
        }
        self.allowance = allowance
        begun = task.progress
        if begun == nil {
            switch task.command {
            case .publish(let broadcast, let answer): try publish(broadcast, answer)
            case .perform(let request, let answer): try perform(request, answer)
            // `Writer.isForDispatcher` routes these commands to the dispatcher, so this case is unreachable.
            case .accept, .acknowledge, .attach, .detach:
                if let (reply, _) = StoreReply.unavailable(task.command, Self.misdirected) {
                    events.append(.reply(reply))
                }
            }
        }
        if let work = begun { try advance(work, of: task) }
    }

    /// Restarts the long work of a transaction that was rolled back.
    func restartLongWork() {
        for work in advanced { work.restart() }
        advanced = []
        unfinished = []
    }

    /// Starts work that may take several turns and answers the current request.
    func begin(_ work: any LongWork) -> Verdict? {
        begun = work
        return nil
    }

    /// Executes a step of long work, and further steps while the slice lasts and no other request waits.
    private func advance(_ work: any LongWork, of task: StoreTask) throws(SQLiteError) {
        begun = nil
        advanced.append(work)
        repeat {
            if try work.step(self) { return }
        } while !slice.isShared && !slice.isOver
        unfinished.append((task, work))
    }

    /// Writes the transaction's common data as its last step: counts, the sequence limit and the trace.
    ///
    /// - Parameters:
    ///   - isClosing: Whether this is the last transaction.
    ///   - hasSpace: Whether the disk has space for the trace; otherwise it waits in memory.
    /// - Throws: The error that SQLite returned.
    func end(isClosing: Bool, hasSpace: Bool) throws(SQLiteError) {
        try settled.end()
        if let reservation = sequences.reservation(isClosing: isClosing) { try state.setLastSequence(reservation) }
        trace.record(events, at: now)
        if hasSpace { try trace.flushIfDue(into: traceTable) }
    }

    /// Adds removals to the events.
    func note(_ removed: [PendingTable.Removed], _ removal: RemovalReason, _ detail: TraceDetail = .none) {
        for removed in removed { events.append(.delivery(.removed(removed, removal, detail))) }
    }

    /// Adds removals of broadcasts to the events.
    func note(_ removed: [BroadcastTable.Removed], _ removal: RemovalReason) {
        for removed in removed { events.append(.broadcast(.removed(removed, removal))) }
    }

    /// Adds the ends of subscriptions to the events, and drops their broadcasts from the streams.
    func note(_ ended: [SubscriptionTable.Ended]) {
        for ended in ended {
            events.append(.holding(.unsubscribed(ended)))
            if let sequence = ended.storedSequence { events.append(.broadcast(.settled(sequence, ended.device))) }
        }
    }

    // MARK: Requests

    private func perform(_ request: StoreRequest, _ answer: ReplyAddress) throws(SQLiteError) {
        if let verdict = try verdict(on: request, answer) {
            events.append(.reply(.performed(verdict, answer: answer)))
        }
    }

    /// Executes a request; returns nil when an event provides the answer.
    private func verdict(on request: StoreRequest, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        switch request {
        case .enrol(let new): return try enrol(new)
        case .register(let secretHash, let topic, let environment): return try register(secretHash, topic, environment)
        case .unregister(let secretHash, let topic): return try unregister(secretHash, topic)
        case .subscribe(let secretHash, let topic, let channel): return try subscribe(secretHash, topic, channel)
        case .unsubscribe(let secretHash, let topic, let channel): return try unsubscribe(secretHash, topic, channel)
        case .subscriptions(let secretHash, let topic): return try subscriptions(secretHash, topic, answer)
        case .setFilter(let secretHash, let topics): return try setFilter(secretHash, topics, answer)
        case .setPower(let secretHash, let isSaving): return try setPower(secretHash, isSaving)
        case .identify, .acknowledge: return .failure(.unavailable(Self.misdirected))
        case .removeSelf(let secretHash): return try removeSelf(secretHash, answer)
        case .addApp(let topic, let name, let team, let checks, let allowsBroadcasts):
            return try addApp(topic, name, team, checks, allowsBroadcasts)
        case .changeApp(let topic, let name, let checks, let allowsBroadcasts):
            return try changeApp(topic, name, checks, allowsBroadcasts, answer)
        case .apps: return apps(answer)
        case .app(let topic): return try app(topic, answer)
        case .removeApp(let topic): return try removeApp(topic, answer)
        case .addKey(let key): return try addKey(key)
        case .keys: return allKeys(answer)
        case .revokeKey(let id): return try revokeKey(id)
        case .addCertificate(let certificate): return try addCertificate(certificate)
        case .certificates: return allCertificates(answer)
        case .revokeCertificate(let fingerprint): return try revokeCertificate(fingerprint)
        case .createChannel(let id, let topic, let environment, let policy):
            return try createChannel(id, topic, environment, policy)
        case .channel(let id, let topic, let environment): return try channel(id, topic, environment, answer)
        case .channels(let topic, let environment): return try channels(topic, environment, answer)
        case .removeChannel(let id, let topic, let environment):
            return try removeChannel(id, topic, environment, answer)
        case .addEnrolmentCode(let hash, let expires): return try addEnrolmentCode(hash, expires)
        case .enrolmentCodes: return .success(.enrolmentCodes(try enrolmentCodes.unused(now: now)))
        case .revokeEnrolmentCode(let id): return try revokeEnrolmentCode(id)
        case .devices(let after, let countMax): return try devices(after, countMax, answer)
        case .device(let id): return try device(id, answer)
        case .removeDevice(let device): return try removeDevice(device, answer)
        case .expireDevice(let device): return try expireDevice(device, answer)
        case .counts: return counts(answer)
        case .backup(let order): return backups.begin(order)
        case .quota(let request): return try quota(request)
        case .policy(let request): return try policy(request, answer)
        case .trace(let query): return try search(query, answer)
        case .setWebhook(let topic, let url, let secret): return try setWebhook(topic, url, secret)
        case .removeWebhook(let topic): return try removeWebhook(topic)
        case .advanceWebhook(let topic, let position):
            try webhooks.advance(topic, to: position)
            return .success(.done)
        case .noteWebhookProblem(let topic, let problem):
            try webhooks.noteProblem(topic, problem, now: now)
            return .success(.done)
        }
    }
}

extension StoreCommand {
    /// The disk access that the command needs.
    var need: Executor.Need {
        switch self {
        case .accept: .growing
        case .publish(let broadcast, _): broadcast.isNowOrNever ? .reading : .growing
        case .attach, .detach: .reading
        case .acknowledge: .shrinking
        case .perform(let request, _): request.need
        }
    }
}

extension StoreRequest {
    /// The disk access that the request needs.
    fileprivate var need: Executor.Need {
        switch self {
        case .quota(let request): request.need
        case .policy(let request): request.need
        case .enrol, .register, .setFilter, .addApp, .changeApp, .addKey, .addEnrolmentCode, .addCertificate,
            .subscribe,
            .createChannel, .setWebhook, .noteWebhookProblem:
            .growing
        case .unregister, .acknowledge, .removeSelf, .removeApp, .revokeKey, .removeDevice, .revokeCertificate,
            .unsubscribe, .removeChannel, .expireDevice, .removeWebhook, .advanceWebhook, .revokeEnrolmentCode:
            .shrinking
        case .setPower, .apps, .app, .keys, .devices, .device, .counts, .certificates, .channel, .channels,
            .subscriptions, .trace, .backup, .identify, .enrolmentCodes:
            .reading
        }
    }
}
