// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Executes the requests of devices and administrators about devices.
final class DeviceExecutor {
    private let devices: DeviceTable
    private let enrolmentCodes: EnrolmentCodeTable
    private let registrationRows: RegistrationTable
    private let topics: TopicTable
    private let policies: PolicyTable
    private let deliveryHistories: DeliveryHistoryTable
    private let transaction: StoreTransaction
    private let waiting: any WaitingNotifications
    private let authentication: DeviceAuthentication
    private let registrations: RegistrationExecutor

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ waiting: any WaitingNotifications,
        _ authentication: DeviceAuthentication, _ registrations: RegistrationExecutor
    ) {
        devices = tables.devices
        enrolmentCodes = tables.enrolmentCodes
        registrationRows = tables.registrations
        topics = tables.topics
        policies = tables.policies
        deliveryHistories = tables.deliveryHistories
        self.transaction = transaction
        self.waiting = waiting
        self.authentication = authentication
        self.registrations = registrations
    }

    // MARK: Enrolment

    func enrol(_ new: StoreRequest.NewDevice) throws(SQLError) -> RequestResult {
        guard new.name.utf8.count <= Limits.displayNameByteCountMax,
            new.platform.utf8.count <= Limits.displayNameByteCountMax
        else { return .failure(.tooMany) }
        // An ID that does not fit into 63 bits is refused like a taken one; the caller generates another.
        guard let device = Int64(exactly: new.device.rawValue) else { return .failure(.alreadyExists) }
        guard let codeHash = new.codeHash else { return try isTaken(new) ? .failure(.alreadyExists) : add(new) }
        if try enrolmentCodes.isUsed(codeHash, by: device) { return try enrolAgain(new) }
        guard try !isTaken(new) else { return .failure(.alreadyExists) }
        if try enrolmentCodes.use(codeHash, by: device, new.requestHash, now: transaction.now) { return try add(new) }
        // The code is unknown or used, perhaps by the same request, whose answer was lost.
        guard let requestHash = new.requestHash,
            let known = try enrolmentCodes.device(codeHash, requestHash, now: transaction.now)
        else { return .failure(.badEnrolmentCode) }
        // The other device may be in another shard.
        guard !new.keepsDevice else { return .failure(.busy) }
        var first = new
        first.device = DeviceID(stored: known)
        return try enrolAgain(first)
    }

    private func isTaken(_ new: StoreRequest.NewDevice) throws(SQLError) -> Bool {
        try devices.isTaken(new.device.stored, secretHash: new.secretHash(new.device))
    }

    private func add(_ new: StoreRequest.NewDevice) throws(SQLError) -> RequestResult {
        try devices.add(new.device.stored, new, now: transaction.now)
        transaction.add(.count(.deviceAdded))
        return .success(.enrolled(new.device))
    }

    /// Executes a request whose code was used for its device.
    ///
    /// In a cluster, an earlier attempt may have committed the use of the code, but not the device, which is in another
    /// database. This attempt then adds the device. If the answer was lost, the request comes again with the same code
    /// and request ID. The device then gets a new secret, unless it has been used.
    private func enrolAgain(_ new: StoreRequest.NewDevice) throws(SQLError) -> RequestResult {
        if let row = try devices.find(new.device.stored) {
            guard row.seenAt == nil else { return .failure(.badEnrolmentCode) }
            try devices.change(new.device.stored, new)
            return .success(.enrolled(new.device))
        }
        // A removed device keeps its ID, so the code cannot enrol it again.
        return try isTaken(new) ? .failure(.badEnrolmentCode) : add(new)
    }

    // MARK: Administration

    /// Executes an administrator's request about a device.
    func execute(_ request: DeviceAdministration, on device: DeviceID) throws(SQLError) -> RequestResult {
        guard let stored = Int64(exactly: device.rawValue), let row = try devices.find(stored) else {
            return .failure(.unknownDevice)
        }
        switch request {
        case .describe: return .memoryQuery(.device(try description(of: row)))
        case .rename(let name):
            try devices.rename(stored, name)
            return .success(.done)
        case .remove: return remove(device)
        case .expire: return expire(device)
        }
    }

    /// Removes a device with its registrations and its queue.
    ///
    /// Its device tokens become `Unregistered`.
    private func remove(_ device: DeviceID) -> RequestResult {
        .unfinished(
            Removal { [unowned self] () throws(SQLError) in
                // The device or an administrator may have removed it since the last step.
                guard try authentication.isLive(device) else { return .success(true) }
                guard try registrations.endSome(of: device, asExpired: false) else { return .success(false) }
                _ = try registrations.endAll(of: device, asExpired: false)
                try registrationRows.forgetFilter(of: device)
                try policies.removeAll(of: device)
                try devices.remove(device, now: transaction.now)
                try deliveryHistories.remove(of: device)
                transaction.add(.count(.deviceRemoved(device)))
                return .success(true)
            })
    }

    /// Expires all registrations of a device.
    private func expire(_ device: DeviceID) -> RequestResult {
        .unfinished(
            Removal { [unowned self] () throws(SQLError) in
                guard try registrations.endSome(of: device, asExpired: true) else { return .success(false) }
                _ = try registrations.endAll(of: device, asExpired: true)
                return .success(true)
            })
    }

    // MARK: Power

    /// Sets whether a device saves power while its stream is open.
    func setPower(_ device: DeviceID, _ isSaving: Bool) -> RequestResult {
        transaction.add(.stream(.power(device, isSaving: isSaving)))
        return .success(.done)
    }

    // MARK: Lists

    /// Lists devices after one, which may have been removed since.
    func devices(_ after: DeviceID?, _ countMax: Int) throws(SQLError) -> RequestResult {
        var start: DeviceTable.ListCursor?
        if let after {
            guard let stored = Int64(exactly: after.rawValue), let cursor = try devices.cursor(of: stored) else {
                return .failure(.unknownDevice)
            }
            start = cursor
        }
        return list(after: start, countMax: countMax)
    }

    /// Lists devices after a position.
    func list(after start: DeviceTable.ListCursor?, countMax: Int) -> RequestResult {
        let read = { [unowned self] (after: DeviceTable.ListCursor?, countMax: Int) throws(SQLError) in
            let page = try devices.page(after: after, countMax: countMax)
            var list = ListPage<StoreEvent.DeviceDescription, DeviceTable.ListCursor>(next: page.next)
            for row in page.rows { list.rows.append(try description(of: row)) }
            return list
        }
        return .unfinished(
            Listing(after: start, countMax: max(countMax, 1), read: read) { list in
                let next = list.next.map { DeviceID(stored: $0.id) }
                return .memoryQuery(.devices(list.rows, next: next))
            })
    }

    /// Returns the description of a device without the values that come from its stream.
    private func description(of row: DeviceTable.Row) throws(SQLError) -> StoreEvent.DeviceDescription {
        var topicNames: [TopicName] = []
        for topic in try registrationRows.liveTopics(of: row.id) {
            if let name = try topics.name(of: topic) { topicNames.append(name) }
        }
        let device = AdminAPI.Device(
            deviceID: row.id.text, name: row.name, platform: row.platform, enrolledAt: row.enrolledAt, connected: false,
            topics: topicNames.sorted(), pendingCount: try waiting.pendingCount(of: row.id), seenAt: row.seenAt,
            agent: row.agent)
        return StoreEvent.DeviceDescription(id: row.id, device: device, now: transaction.now)
    }
}
