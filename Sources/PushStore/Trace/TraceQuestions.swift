// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// The tables that searches of the trace need besides the trace.
final class TraceQuestions {
    private let topics: TopicTable
    /// Returns the tables that have a device.
    private let tables: (DeviceID) throws(SQLError) -> SharedTables

    init(_ tables: SharedTables) {
        topics = tables.topics
        self.tables = { _ in tables }
    }

    init(_ topics: TopicTable, of tables: @escaping (DeviceID) throws(SQLError) -> SharedTables) {
        self.topics = topics
        self.tables = tables
    }

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - answer: The address of the answer.
    ///   - waitsSince: The time from which a webhook waits for the first event of a notification. Nil if one node writes
    ///     the trace.
    /// - Returns: The search, or the refusal of an unknown device or app.
    /// - Throws: The error that the engine returned.
    func search(
        _ query: TraceQuery, _ answer: ReplyAddress, waitsSince: Timestamp? = nil
    ) throws(SQLError) -> Result<TraceSearch, StoreRefusal> {
        var topic: TopicID?
        switch query.subject {
        case .notification: break
        case .device(let device):
            guard try tables(device).devices.wasEnrolled(device.stored) else { return .failure(.unknownDevice) }
        case .app(let name):
            guard let found = try topics.find(name)?.topic.id else { return .failure(.unknownTopic) }
            topic = found
        }
        return .success(TraceSearch(query, topic: topic, answer: answer, waitsSince: waitsSince))
    }

    /// Adds the device tokens to the entries of a search for a webhook.
    func complete(_ search: TraceSearch) throws(SQLError) {
        if search.query.isForWebhook { try search.addTokens(token) }
    }

    /// Returns the device token of an entry; nil if it is unknown, for example because the app registered again.
    private func token(_ entry: TraceEntry) throws(SQLError) -> TraceEntry.Token? {
        let device = entry.event.device
        guard let origin = entry.origin, device != .none else { return nil }
        let registrations = try tables(device).registrations
        guard let registration = try registrations.find(device: device.stored, topic: origin.topic),
            origin.generation == 0 || origin.generation == registration.generation,
            let environment = try registrations.environment(device: device, topic: origin.topic)
        else { return nil }
        let contents = DeviceTokenContents(
            device: device, topic: origin.topic, generation: registration.generation)
        return TraceEntry.Token(contents: contents, environment: environment)
    }
}
