// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    // MARK: Looking

    /// Starts a search that continues between transactions.
    ///
    /// The events in memory are written first, so that the search finds them.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - answer: The address of the answer.
    /// - Returns: A refusal, or nil when the search started.
    /// - Throws: The error that SQLite returned.
    func search(_ query: TraceQuery, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
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
        events.append(.question(.trace(TraceSearch(query, topic: topic, answer: answer))))
        return nil
    }

    /// Continues a search; returns true while more rows are left.
    func step(_ search: TraceSearch) throws(SQLiteError) -> Bool {
        let byteCountMax = WriterLimits.traceBytesSearchedPerStep
        if try search.step(byteCountMax: byteCountMax, traceTable, traceOrigins) { return true }
        if search.query.isForWebhook { try search.addTokens(token) }
        return false
    }

    /// Returns the device token of an entry; nil when it is unknown, for example because the app registered again.
    private func token(_ entry: TraceEntry) throws(SQLiteError) -> TraceEntry.Token? {
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
    func trimTrace() throws(SQLiteError) -> Bool {
        let (age, isHuge) = bounds.traceLifeSeconds.multipliedReportingOverflow(by: 1000)
        let (moment, isBeforeTime) = now.subtractingReportingOverflow(age)
        return try traceTable.trim(
            olderThan: !trace.isOn ? .max : isHuge || isBeforeTime ? .min : moment,
            byteCountMax: bounds.traceByteCountMax, end: trace.end)
    }

    // MARK: Webhooks

    /// Sets an app's webhook.
    ///
    /// A new webhook reports later events; an existing one keeps its position.
    func setWebhook(_ topicName: String, _ url: String, _ secret: [UInt8]) throws(SQLiteError) -> Verdict {
        guard trace.isOn else { return .failure(.traceOff) }
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        let known = try webhooks.all()
        guard known[topic] != nil || known.count < Limits.webhookCountMax else { return .failure(.tooMany) }
        try webhooks.set(topic, url: url, secret: secret, position: trace.nextPosition)
        hasDirectoryChanged = true
        return .success(.done)
    }

    /// Removes an app's webhook; succeeds without one.
    func removeWebhook(_ topicName: String) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        try webhooks.remove(topic)
        hasDirectoryChanged = true
        return .success(.done)
    }
}
