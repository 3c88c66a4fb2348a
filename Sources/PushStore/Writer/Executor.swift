// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Executes commands on the tables inside the writer's transaction, and lists what follows as events.
final class Executor {
    /// The answer to a request.
    typealias Verdict = Result<StoreAnswer, StoreRefusal>

    /// What a command needs of the disk; a full disk is left with the lesser ones.
    enum Need: Int {
        /// Nothing is written.
        case reading
        /// Rows are deleted or marked.
        case shrinking
        /// Rows are added.
        case growing
    }

    /// What administrators decided.
    struct Bounds {
        var pendingPerTopicCountMax: Int
        var pendingPerDeviceCountMax: Int
        var channelPerAppCountMax: Int
        /// Devices remembered in memory.
        var cardCountMax: Int
        /// How long a device may be unseen before its registrations expire; nil for ever.
        var registrationLifeSeconds: Int64?
        /// Whether there is a trace, for how long it is kept, and how much of it.
        var hasTrace: Bool
        var traceLifeSeconds: Int64
        var traceByteCountMax: Int64
    }

    let topics: TopicTable
    let keys: KeyTable
    let certificates: CertificateTable
    let devices: DeviceTable
    let enrolmentCodes: EnrolmentCodeTable
    let registrations: RegistrationTable
    let pending: PendingTable
    let settled: SettledTable
    let channels: ChannelTable
    let subscriptions: SubscriptionTable
    let broadcasts: BroadcastTable
    let state: StateTable
    let webhooks: WebhookTable
    let traceTable: TraceTable
    let traceOrigins: TraceOrigins
    let trace: TraceRecorder
    let backups: BackupWork
    /// What is known of devices without reading.
    let cards: DeviceCards
    let sequences: Sequences
    let quotas: QuotaTable
    let policies: PolicyTable
    let bounds: Bounds
    /// Until then no device is taken for gone, UNIX milliseconds: after a long stop they must first come back.
    let returnEndUnixMilliseconds: Int64
    /// Wall clock of this transaction, UNIX milliseconds.
    var now: Int64 = 0
    /// What this transaction did so far.
    var events: [StoreEvent] = []
    /// Whether apps, keys or certificates changed.
    var hasDirectoryChanged = false
    /// What the disk has room for now.
    private(set) var allowance = Need.growing

    init(_ connection: Connection, _ bounds: Bounds, now: Int64) throws(SQLiteError) {
        self.bounds = bounds
        topics = try TopicTable(connection)
        keys = try KeyTable(connection)
        certificates = try CertificateTable(connection)
        devices = try DeviceTable(connection)
        enrolmentCodes = try EnrolmentCodeTable(connection)
        registrations = try RegistrationTable(connection)
        pending = try PendingTable(connection)
        settled = try SettledTable(connection)
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
        trace = try TraceRecorder(isOn: bounds.hasTrace, traceTable)
        returnEndUnixMilliseconds = Self.returnEnd(now: now, lastRunning: try state.lastRunning(), bounds)
        sequences = Sequences(stored: try state.lastSequence())
        cards = DeviceCards(registrations, devices, settled, countMax: bounds.cardCountMax)
        try pending.forEachRecent(after: try state.settledThrough(), cards.load)
    }

    // MARK: A transaction

    /// Begins a transaction's list of events.
    func begin(now: Int64) {
        self.now = now
        events.removeAll(keepingCapacity: true)
        hasDirectoryChanged = false
        settled.begin()
        trace.begin()
    }

    /// Executes one command, or refuses it when it needs more of the disk than there is.
    func execute(_ command: StoreCommand, upTo allowance: Need) throws(SQLiteError) {
        guard command.need.rawValue <= allowance.rawValue else {
            if let (reply, _) = StoreReply.unavailable(command, "the disk is full") { events.append(.reply(reply)) }
            return
        }
        self.allowance = allowance
        switch command {
        case .publish(let broadcast, let answer): try publish(broadcast, answer)
        case .perform(let request, let answer): try perform(request, answer)
        case .accept, .acknowledge, .attach, .detach: preconditionFailure("the dispatcher takes this command")
        }
    }

    /// Writes what belongs to the transaction as a whole, as the last thing of it.
    ///
    /// - Parameters:
    ///   - isClosing: Whether this is the last transaction.
    ///   - hasSpace: Whether the disk takes the trace, too; on a full one it waits in memory.
    /// - Throws: What SQLite answered.
    func end(isClosing: Bool, hasSpace: Bool) throws(SQLiteError) {
        try settled.end()
        if let reservation = sequences.reservation(isClosing: isClosing) { try state.setLastSequence(reservation) }
        trace.record(events, at: now)
        if hasSpace { try trace.flushIfDue(into: traceTable) }
    }

    /// Notes removals.
    func note(_ removed: [PendingTable.Removed], _ removal: Tally.Removal, _ detail: TraceDetail = .none) {
        for removed in removed { events.append(.delivery(.removed(removed, removal, detail))) }
    }

    /// Notes removals of broadcasts.
    func note(_ removed: [BroadcastTable.Removed], _ removal: Tally.Removal) {
        for removed in removed { events.append(.broadcast(.removed(removed, removal))) }
    }

    /// Notes the ends of subscriptions, and what is not to go out any more for that.
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

    /// Does what is asked; nil when the answer follows from an event.
    private func verdict(on request: StoreRequest, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        switch request {
        case .enrol(let new): return try enrol(new)
        case .register(let secretHash, let topic, let environment): return try register(secretHash, topic, environment)
        case .unregister(let secretHash, let topic): return try unregister(secretHash, topic)
        case .subscribe(let secretHash, let topic, let channel): return try subscribe(secretHash, topic, channel)
        case .unsubscribe(let secretHash, let topic, let channel): return try unsubscribe(secretHash, topic, channel)
        case .subscriptions(let secretHash, let topic): return try subscriptions(secretHash, topic)
        case .setFilter(let secretHash, let topics): return try setFilter(secretHash, topics)
        case .setPower(let secretHash, let isSaving): return try setPower(secretHash, isSaving)
        case .acknowledge: preconditionFailure("the dispatcher takes this request")
        case .removeSelf(let secretHash): return try removeSelf(secretHash)
        case .addApp(let topic, let name, let team, let checks, let allowsBroadcasts):
            return try addApp(topic, name, team, checks, allowsBroadcasts)
        case .changeApp(let topic, let name, let checks, let allowsBroadcasts):
            return try changeApp(topic, name, checks, allowsBroadcasts)
        case .apps: return try apps(answer)
        case .app(let topic): return try app(topic, answer)
        case .removeApp(let topic): return try removeApp(topic)
        case .addKey(let key): return try addKey(key)
        case .keys: return try allKeys()
        case .revokeKey(let id): return try revokeKey(id)
        case .addCertificate(let certificate): return try addCertificate(certificate)
        case .certificates: return .success(.certificates(try certificates.all()))
        case .revokeCertificate(let fingerprint): return try revokeCertificate(fingerprint)
        case .createChannel(let id, let topic, let environment, let policy):
            return try createChannel(id, topic, environment, policy)
        case .channel(let id, let topic, let environment): return try channel(id, topic, environment, answer)
        case .channels(let topic, let environment): return try channels(topic, environment, answer)
        case .removeChannel(let id, let topic, let environment): return try removeChannel(id, topic, environment)
        case .addEnrolmentCode(let hash, let expires): return try addEnrolmentCode(hash, expires)
        case .devices: return try devices(answer)
        case .device(let id): return try device(id, answer)
        case .removeDevice(let device): return try removeDevice(device)
        case .expireDevice(let device): return try expireDevice(device)
        case .counts: return counts(answer)
        case .backup(let order): return backups.begin(order)
        case .quota(let request): return try quota(request)
        case .policy(let request): return try policy(request)
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
    /// What the command needs of the disk.
    fileprivate var need: Executor.Need {
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
    /// What the request needs of the disk.
    fileprivate var need: Executor.Need {
        switch self {
        case .quota(let request): request.need
        case .policy(let request): request.need
        case .enrol, .register, .setFilter, .addApp, .changeApp, .addKey, .addEnrolmentCode, .addCertificate,
            .subscribe,
            .createChannel, .setWebhook, .noteWebhookProblem:
            .growing
        case .unregister, .acknowledge, .removeSelf, .removeApp, .revokeKey, .removeDevice, .revokeCertificate,
            .unsubscribe, .removeChannel, .expireDevice, .removeWebhook, .advanceWebhook:
            .shrinking
        case .setPower, .apps, .app, .keys, .devices, .device, .counts, .certificates, .channel, .channels,
            .subscriptions, .trace, .backup:
            .reading
        }
    }
}
