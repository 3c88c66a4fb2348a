// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Executes commands on the tables inside the writer's transaction, and lists what follows as events.
final class Executor {
    /// What a command needs of the disk; a full disk is left with the lesser ones.
    enum Need: Int {
        /// Nothing is written.
        case reading
        /// Rows are deleted or marked.
        case shrinking
        /// Rows are added.
        case growing
    }

    let topics: TopicTable
    let keys: KeyTable
    let devices: DeviceTable
    let enrolmentCodes: EnrolmentCodeTable
    let registrations: RegistrationTable
    let pending: PendingTable
    let pendingPerTopicCountMax: Int
    /// Wall clock of this transaction, UNIX milliseconds.
    var now: Int64 = 0
    /// What this transaction did so far.
    var events: [StoreEvent] = []
    /// The last sequence that was given out.
    var lastSequence: Int64
    /// Whether apps or keys changed.
    var hasDirectoryChanged = false
    private var storedSequence: Int64

    init(_ connection: Connection, pendingPerTopicCountMax: Int) throws(SQLiteError) {
        self.pendingPerTopicCountMax = pendingPerTopicCountMax
        topics = try TopicTable(connection)
        keys = try KeyTable(connection)
        devices = try DeviceTable(connection)
        enrolmentCodes = try EnrolmentCodeTable(connection)
        registrations = try RegistrationTable(connection)
        pending = try PendingTable(connection)
        lastSequence = try pending.lastSequence()
        storedSequence = lastSequence
    }

    /// Begins a transaction's list of events.
    func begin(now: Int64) {
        self.now = now
        events.removeAll(keepingCapacity: true)
        hasDirectoryChanged = false
        lastSequence = storedSequence
    }

    /// Executes one command, or refuses it when it needs more of the disk than there is.
    func execute(_ command: StoreCommand, upTo need: Need) throws(SQLiteError) {
        guard command.need.rawValue <= need.rawValue else {
            if let (reply, _) = StoreReply.unavailable(command, "the disk is full") { events.append(.reply(reply)) }
            return
        }
        switch command {
        case .accept(let notification, let answer): try accept(notification, answer)
        case .publish(let broadcast, let answer): try publish(broadcast, answer)
        case .attach(let secretHash, let stream): try attach(secretHash, stream)
        case .detach(let stream): events.append(.detach(stream: stream))
        case .perform(let request, let answer): try perform(request, answer)
        }
    }

    /// Writes down the last sequence, as the last thing of a transaction.
    func end() throws(SQLiteError) {
        guard lastSequence > storedSequence else { return }
        try pending.setLastSequence(lastSequence)
    }

    /// Notes that the transaction is committed.
    func committed() { storedSequence = lastSequence }

    /// Deletes expired rows and codes, and damaged rows; true when there is more to do.
    func sweep(_ damaged: [PendingTable.Removed]) throws(SQLiteError) -> Bool {
        for row in damaged where try pending.remove(row.sequence) { events.append(.removed(row, .dropped)) }
        let expired = try pending.removeExpired(now: now, countMax: WriterLimits.rowsSweptPerStepCountMax)
        note(expired, .expired)
        try enrolmentCodes.deleteExpired(now: now)
        return expired.count == WriterLimits.rowsSweptPerStepCountMax
    }

    /// Notes removals.
    func note(_ removed: [PendingTable.Removed], _ removal: Tally.Removal) {
        for removed in removed { events.append(.removed(removed, removal)) }
    }

    private func attach(_ secretHash: [UInt8], _ stream: ReplyAddress) throws(SQLiteError) {
        if let device = try devices.authenticate(secretHash) {
            events.append(.attach(device, stream: stream))
        } else {
            events.append(.reply(.performed(.failure(.unauthorized), answer: stream)))
        }
    }

    private func perform(_ request: StoreRequest, _ answer: ReplyAddress) throws(SQLiteError) {
        let result: Result<StoreAnswer, StoreRefusal>?
        switch request {
        case .enrol, .register, .unregister, .setFilter, .acknowledge, .removeSelf:
            result = try performForDevice(request)
        case .addApp, .removeApp, .addKey, .revokeKey, .addEnrolmentCode, .removeDevice:
            result = try administer(request)
        case .apps, .app, .keys, .devices, .device, .counts:
            result = try look(request, answer)
        case .subscribe, .unsubscribe, .subscriptions, .createChannel, .channel, .channels, .removeChannel:
            result = try performForChannel(request)
        case .changeApp, .addCertificate, .certificates, .revokeCertificate, .expireDevice:
            result = try administerMore(request)
        }
        if let result { events.append(.reply(.performed(result, answer: answer))) }
    }
}

extension StoreCommand {
    /// What the command needs of the disk.
    fileprivate var need: Executor.Need {
        switch self {
        case .accept, .publish: .growing
        case .attach, .detach: .reading
        case .perform(let request, _): request.need
        }
    }
}

extension StoreRequest {
    /// What the request needs of the disk.
    fileprivate var need: Executor.Need {
        switch self {
        case .enrol, .register, .setFilter, .addApp, .changeApp, .addKey, .addEnrolmentCode, .addCertificate, .subscribe,
            .createChannel:
            .growing
        case .unregister, .acknowledge, .removeSelf, .removeApp, .revokeKey, .removeDevice, .revokeCertificate,
            .unsubscribe, .removeChannel, .expireDevice:
            .shrinking
        case .apps, .app, .keys, .devices, .device, .counts, .certificates, .channel, .channels, .subscriptions: .reading
        }
    }
}
