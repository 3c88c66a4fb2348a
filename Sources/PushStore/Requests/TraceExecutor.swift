// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Starts and continues searches of the trace, and deletes its old events.
final class TraceExecutor {
    private let table: TraceTable
    private let origins: TraceOrigins
    private let topics: TopicTable
    private let devices: DeviceTable
    private let registrations: RegistrationTable
    private let transaction: StoreTransaction
    private let trace: TraceRecorder
    private let bounds: StoreBounds

    init(
        _ tables: StoreTables, _ transaction: StoreTransaction, _ trace: TraceRecorder, _ bounds: StoreBounds
    ) {
        table = tables.trace
        origins = TraceOrigins(tables.trace)
        topics = tables.topics
        devices = tables.devices
        registrations = tables.registrations
        self.transaction = transaction
        self.trace = trace
        self.bounds = bounds
    }

    // MARK: Looking

    /// Starts a search that continues between transactions.
    ///
    /// The events in memory are written first, so that the search finds them.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - answer: The address of the answer.
    /// - Returns: The search, or a refusal.
    /// - Throws: The error that SQLite returned.
    func search(_ query: TraceQuery, _ answer: ReplyAddress) throws(SQLError) -> RequestResult {
        guard trace.isOn else { return .failure(.traceOff) }
        var topic: TopicID?
        switch query.subject {
        case .notification: break
        case .device(let device):
            guard try devices.wasEnrolled(device.stored) else { return .failure(.unknownDevice) }
        case .app(let name):
            guard let found = try topics.find(name)?.topic.id else { return .failure(.unknownTopic) }
            topic = found
        }
        trace.flushSoon()
        return .memoryQuery(.trace(TraceSearch(query, topic: topic, answer: answer)))
    }

    /// Continues a search; returns true while more rows are left.
    func step(_ search: TraceSearch) throws(SQLError) -> Bool {
        let byteCountMax = WriterLimits.traceBytesSearchedPerStep
        if try search.step(byteCountMax: byteCountMax, table, origins) { return true }
        if search.query.isForWebhook { try search.addTokens(token) }
        return false
    }

    /// Returns the device token of an entry; nil if it is unknown, for example because the app registered again.
    private func token(_ entry: TraceEntry) throws(SQLError) -> TraceEntry.Token? {
        let device = entry.event.device
        guard let origin = entry.origin, device != .none,
            let registration = try registrations.find(device: device.stored, topic: origin.topic),
            origin.generation == 0 || origin.generation == registration.generation,
            let environment = try registrations.environment(device: device, topic: origin.topic)
        else { return nil }
        let contents = DeviceTokenContents(
            device: device, topic: origin.topic, generation: registration.generation)
        return TraceEntry.Token(contents: contents, environment: environment)
    }

    // MARK: Retention

    /// Deletes events that are too old or exceed the size limit; returns true when more may be left.
    ///
    /// If the trace is disabled, it deletes all events.
    func trim() throws(SQLError) -> Bool {
        let oldest = transaction.now.advanced(bySeconds: -bounds.traceLifeSeconds)
        return try table.trim(
            olderThan: trace.isOn ? oldest : .distantFuture,
            byteCountMax: bounds.traceByteCountMax, end: trace.end)
    }
}
