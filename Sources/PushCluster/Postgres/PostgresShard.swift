// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// Executes the batches of one shard over a pipeline to PostgreSQL.
///
/// ```
/// heartbeat ┃ departures, deletions, attachments ┃ readings ┃ writes ┃ changes ┃ looks      ┃: end of a transaction
/// ```
/// All parts are sent at once, and their results arrive in order.
final class PostgresShard {
    /// The closures that a shard calls on its loop.
    struct Handlers {
        var connected: () -> Void
        /// The connection is lost, with the result of the batch that was sent.
        var lost: (SQLError) -> Void
        var unreachable: (SQLError) -> Void
        var answered: (ShardResult, _ number: Int64) -> Void
        /// PostgreSQL refused a part of the batch; other parts may be committed.
        ///
        /// Only the heartbeat of the result is valid.
        var refused: (SQLError, ShardResult, _ number: Int64) -> Void
        /// PostgreSQL refused only the notifications, which the result marks as failed.
        var writesRefused: (SQLError, ShardResult, _ number: Int64) -> Void
    }

    private static let forgettingHeartbeatCount = 30

    private let instance: InstanceID
    private let handlers: Handlers
    private var pipeline: PostgresPipeline?
    private var parameters: [HotStatement: PostgresParameters] = [:]
    private var flight: ShardFlight?
    private var heartbeatCount = 0

    /// Creates the connection of an instance to a shard, which `start` opens.
    ///
    /// - Parameters:
    ///   - loop: The loop of the connection and the handlers.
    ///   - address: The servers of the shard.
    ///   - settings: The settings of the session.
    ///   - instance: The instance, whose row in `nodes` exists.
    ///   - handlers: The closures.
    /// - Throws: `NetError.system` if the kernel has no memory for another descriptor.
    init(
        on loop: EventLoop, to address: PostgresAddress, _ settings: PostgresSettings, _ instance: InstanceID,
        _ handlers: Handlers
    ) throws(NetError) {
        self.instance = instance
        self.handlers = handlers
        let statements = HotStatement.allCases.map(\.prepared)
        for statement in HotStatement.allCases {
            parameters[statement] = PostgresParameters(statement.prepared.parameters)
        }
        pipeline = try PostgresPipeline(
            on: loop, to: address, settings: settings, statements: statements,
            handlers: .init(
                connected: handlers.connected,
                received: { [weak self] index, result in self?.received(index, result) },
                synced: { [weak self] failure in self?.synced(failure) },
                lost: { [weak self] failure in
                    self?.flight = nil
                    handlers.lost(failure)
                },
                unreachable: handlers.unreachable))
    }

    func start() { pipeline?.start() }
    func stop() { pipeline?.stop() }

    // MARK: Sending

    /// Sends a batch; a lost connection is reported by `lost`.
    func send(_ batch: ShardBatch, number: Int64) {
        precondition(flight == nil, "a batch is sent while another one is under way")
        flight = ShardFlight(batch, number: number)
        sendHeartbeat(batch)
        sendUnsafeChanges(batch)
        sendReadings(batch)
        sendWrites(batch)
        if !batch.changes.isEmpty {
            send(.announce) { parameters in for device in batch.changes { parameters.append(device.stored, to: 0) } }
            endTransaction()
        }
        guard !batch.looks.isEmpty else { return }
        flight?.result.looks = Array(repeating: nil, count: batch.looks.count)
        send(.look) { parameters in for device in batch.looks { parameters.append(device.stored, to: 0) } }
        endTransaction()
    }

    private func send(_ statement: HotStatement, _ fill: (PostgresParameters) -> Void = { _ in }) {
        guard let values = parameters[statement] else { return }
        values.removeAll()
        fill(values)
        pipeline?.send(statement.rawValue, values)
    }

    /// Sends a statement with an array element for each of some values; sends no statement without values.
    private func send<Values: Sequence>(
        _ statement: HotStatement, for values: Values, _ append: (PostgresParameters, Values.Element) -> Void
    ) {
        var iterator = values.makeIterator()
        guard let first = iterator.next() else { return }
        send(statement) { parameters in
            append(parameters, first)
            while let next = iterator.next() { append(parameters, next) }
        }
    }

    private func endTransaction() {
        flight?.transactionCount += 1
        pipeline?.sync()
    }

    private func sendHeartbeat(_ batch: ShardBatch) {
        guard let heartbeat = batch.heartbeat else { return }
        send(.beat) { parameters in
            parameters.set(Int64(instance.node.rawValue), at: 0)
            parameters.set(instance.rawValue, at: 1)
            parameters.set(heartbeat.idCeiling, at: 2)
            parameters.set(heartbeat.leastTransaction, at: 3)
            parameters.set((heartbeat.isDrained ? Draining.drained : .draining).rawValue, at: 4)
        }
        flight?.result.heartbeat = ShardResult.Heartbeat(
            isTaken: true, time: 0, controlVersion: 0, changes: [], nodes: [])
        send(.changes) { $0.set(heartbeat.leastTransaction, at: 0) }
        heartbeatCount += 1
        if heartbeatCount % Self.forgettingHeartbeatCount == 0 { send(.forgetChanges) }
        send(.nodes)
        send(.broadcasts) { $0.set(heartbeat.leastBroadcast, at: 0) }
        endTransaction()
    }

    /// Sends the changes that need not survive the loss of the primary.
    private func sendUnsafeChanges(_ batch: ShardBatch) {
        guard
            !batch.departures.isEmpty || !batch.deletions.isEmpty || !batch.acknowledgements.isEmpty
                || !batch.skips.isEmpty || !batch.attachments.isEmpty
        else { return }
        send(.commitLater)
        send(.depart, for: batch.departures.sorted { $0.device.stored < $1.device.stored }) { parameters, departure in
            parameters.append(departure.device.stored, to: 0)
            parameters.append(departure.epoch, to: 1)
        }
        send(.delete, for: batch.deletions) { parameters, row in
            parameters.append(row.device.stored, to: 0)
            parameters.append(row.key.rawValue, to: 1)
            parameters.append(row.id, to: 2)
        }
        send(.acknowledge, for: batch.acknowledgements) { parameters, acknowledgement in
            parameters.append(acknowledgement.device.stored, to: 0)
            parameters.append(acknowledgement.id, to: 1)
        }
        send(.skip, for: batch.skips) { parameters, skip in
            parameters.append(skip.device.stored, to: 0)
            parameters.append(skip.channel.rawValue, to: 1)
            parameters.append(skip.number, to: 2)
        }
        send(.attach, for: batch.attachments) { [instance] parameters, attachment in
            parameters.append(attachment.device.stored, to: 0)
            parameters.append(attachment.epoch, to: 1)
            parameters.append(attachment.secretHash.span, to: 2)
            parameters.set(instance.rawValue, at: 3)
        }
        endTransaction()
    }

    private func sendReadings(_ batch: ShardBatch) {
        guard !batch.attachments.isEmpty || !batch.readings.isEmpty else { return }
        if !batch.attachments.isEmpty {
            flight?.result.attachments = Array(repeating: .unauthorized, count: batch.attachments.count)
            send(.hosts) { parameters in
                for attachment in batch.attachments {
                    parameters.append(attachment.device.stored, to: 0)
                    parameters.append(attachment.secretHash.span, to: 1)
                }
            }
        }
        flight?.result.readings = batch.readings.map { reading in
            .init(rows: [], isMore: false, account: reading.isFull ? .init() : nil)
        }
        if !batch.readings.isEmpty {
            send(.rows) { parameters in
                for reading in batch.readings { parameters.append(reading.device.stored, to: 0) }
                parameters.set(batch.rowCountMax, at: 1)
            }
            for statement in [HotStatement.registrations, .subscriptions, .histories] {
                send(statement) { parameters in
                    // Devices whose accounts are not read keep their places.
                    for reading in batch.readings {
                        parameters.append(reading.isFull ? reading.device.stored : 0, to: 0)
                    }
                }
            }
        }
        endTransaction()
    }

    private func sendWrites(_ batch: ShardBatch) {
        guard !batch.writes.isEmpty else { return }
        let order = batch.writeOrder
        flight?.noteWrites()
        flight?.writeOrder = order
        flight?.result.writes = Array(repeating: .written, count: order.count)
        let collapsible = order.lazy.map { batch.writes[$0] }.filter(\.key.isCollapsible)
        if batch.reportsReplaced, !collapsible.isEmpty {
            send(.replaced) { parameters in
                for write in collapsible {
                    parameters.append(write.pending.notification.address.device.stored, to: 0)
                    parameters.append(write.key.rawValue, to: 1)
                }
            }
        }
        var record: [UInt8] = []
        send(.write) { parameters in
            for index in order {
                let write = batch.writes[index]
                let address = write.pending.notification.address
                parameters.append(address.device.stored, to: 0)
                parameters.append(write.key.rawValue, to: 1)
                parameters.append(write.pending.sequence, to: 2)
                parameters.append(Int64(address.topic.rawValue), to: 3)
                parameters.append(Int64(address.generation), to: 4)
                parameters.append(write.expiresAt?.unixMilliseconds, to: 5)
                record.removeAll(keepingCapacity: true)
                PendingRecord.append(write.pending, to: &record)
                parameters.append(record.span, to: 6)
            }
        }
        endTransaction()
    }

    // MARK: Results

    private func received(_ index: Int, _ result: borrowing PostgresResult) {
        guard let statement = HotStatement(rawValue: index), result.isSuccess, flight != nil else { return }
        switch statement {
        case .commitLater, .forgetChanges, .depart, .delete, .acknowledge, .skip: break
        case .write: flight?.writtenCount = result.changedRowCount ?? 0
        case .beat, .changes, .nodes, .broadcasts: flight?.result.heartbeat?.take(statement, result)
        case .attach: takeEarlier(result)
        case .hosts: takeHosts(result)
        case .rows: takeRows(result)
        case .registrations, .subscriptions: takeAccounts(statement, result)
        case .histories:
            for row in 0..<result.rowCount {
                let entries = result.withBytes(row, 1) { DeliveryHistoryTable.decode($0) }
                flight?.result.readings[Int(result.int64(row, 0)) - 1].account?.history = entries
            }
        case .replaced:
            for row in 0..<result.rowCount { flight?.result.replaced.append(.init(result, row)) }
        case .announce: flight?.result.announcement = result.int64(0, 0)
        case .look:
            if result.rowCount > 0 { flight?.result.lookedAt = result.int64(0, 4) }
            for row in 0..<result.rowCount where !result.isNull(row, 1) {
                flight?.result.looks[Int(result.int64(row, 0)) - 1] = ShardResult.Host(result, row, from: 1)
            }
        case .explain: explain(result)
        }
    }

    private func takeEarlier(_ result: borrowing PostgresResult) {
        guard let batch = flight?.batch else { return }
        var places: [Int64: Int] = [:]
        for (place, attachment) in batch.attachments.enumerated() { places[attachment.device.stored] = place }
        flight?.result.attachments = Array(repeating: .unauthorized, count: batch.attachments.count)
        for row in 0..<result.rowCount {
            guard let place = places[result.int64(row, 0)] else { continue }
            let earlier = result.isNull(row, 1) ? nil : ShardResult.Host(result, row, from: 1)
            flight?.result.attachments[place] = .attached(earlier: earlier)
        }
    }

    /// Takes the hosts after the attachments: this instance, or that of a later stream.
    private func takeHosts(_ result: borrowing PostgresResult) {
        guard let batch = flight?.batch else { return }
        for (place, attachment) in batch.attachments.enumerated() where place < result.rowCount {
            guard result.int64(place, 7) == 0 else {
                flight?.result.attachments[place] = .elsewhere
                continue
            }
            guard result.int64(place, 0) != 0, !result.isNull(place, 1) else {
                flight?.result.attachments[place] = .unauthorized
                continue
            }
            let host = ShardResult.Host(result, place, from: 1)
            if host.instance != instance || host.epoch != attachment.epoch {
                flight?.result.attachments[place] = .replaced(by: host)
            } else if case .unauthorized? = flight?.result.attachments[place] {
                // The stream was registered before, perhaps by a statement whose answer was lost.
                flight?.result.attachments[place] = .attached(
                    earlier: result.isNull(place, 4) ? nil : .init(result, place, from: 4))
            }
        }
    }

    private func takeRows(_ result: borrowing PostgresResult) {
        guard let batch = flight?.batch else { return }
        let countMax = batch.rowCountMax
        var counts = Array(repeating: 0, count: batch.readings.count)
        for row in 0..<result.rowCount {
            let place = Int(result.int64(row, 0)) - 1
            counts[place] += 1
            let (device, id) = (batch.readings[place].device, result.int64(row, 2))
            guard !batch.readings[place].known.contains(id) else { continue }
            let topic = TopicID(rawValue: UInt32(truncatingIfNeeded: result.int64(row, 3)))
            let pending = result.withBytes(row, 5) {
                PendingRecord.decode($0, sequence: id, device: device, topic: topic)
            }
            flight?.result.readings[place].rows.append(
                .init(
                    key: RowKey(rawValue: result.int64(row, 1)), id: id, topic: topic,
                    expiresAt: result.optionalInt64(row, 4).map(Timestamp.init(unixMilliseconds:)),
                    notification: pending?.notification))
        }
        for (place, count) in counts.enumerated() where count >= countMax {
            flight?.result.readings[place].isMore = true
        }
    }

    private func takeAccounts(_ statement: HotStatement, _ result: borrowing PostgresResult) {
        guard let batch = flight?.batch else { return }
        for row in 0..<result.rowCount {
            let place = Int(result.int64(row, 0)) - 1
            if statement == .registrations {
                let topic = TopicID(rawValue: UInt32(truncatingIfNeeded: result.int64(row, 1)))
                let state = RegistrationState(result, row, from: 2)
                flight?.result.readings[place].account?.registrations.append((topic, state))
            } else {
                let token = DeviceTokenContents(
                    device: batch.readings[place].device,
                    topic: TopicID(rawValue: UInt32(truncatingIfNeeded: result.int64(row, 2))),
                    generation: UInt32(truncatingIfNeeded: result.int64(row, 3)))
                flight?.result.readings[place].account?.subscriptions.append(
                    .init(
                        channel: ChannelNumber(rawValue: result.int64(row, 1)), token: token,
                        since: result.int64(row, 4)))
            }
        }
    }

    // MARK: The end of a batch

    private func synced(_ failure: SQLError?) {
        guard flight != nil else { return }
        flight?.noteEnd(failure)
        guard let landed = flight, landed.endCount == landed.transactionCount else { return }
        if let failure = landed.failure {
            flight = nil
            handlers.refused(failure, landed.result, landed.number)
        } else if let failure = landed.writeFailure {
            flight = nil
            handlers.writesRefused(failure, landed.result, landed.number)
        } else if landed.writtenCount < landed.writeOrder.count {
            askWhy(landed)
        } else {
            flight = nil
            handlers.answered(landed.result, landed.number)
        }
    }

    /// Asks why not all notifications were written: some may have rows with higher numbers, others no registration.
    private func askWhy(_ landed: ShardFlight) {
        flight?.writtenCount = landed.writeOrder.count
        send(.explain) { parameters in
            for write in landed.batch.writes {
                parameters.append(write.pending.notification.address.device.stored, to: 0)
                parameters.append(Int64(write.pending.notification.address.topic.rawValue), to: 1)
            }
        }
        endTransaction()
    }

    private func explain(_ result: borrowing PostgresResult) {
        guard let batch = flight?.batch else { return }
        for (place, write) in batch.writes.enumerated() where place < result.rowCount {
            flight?.result.writes[place] = ShardResult.Write(
                result, place, generation: write.pending.notification.address.generation)
        }
    }
}
