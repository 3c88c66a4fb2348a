// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests about the webhooks of apps.
final class WebhookExecutor {
    private let webhooks: WebhookTable
    private let topics: TopicTable
    private let transaction: StoreTransaction
    private let trace: any TracePositions

    init(_ tables: SharedTables, _ transaction: StoreTransaction, _ trace: any TracePositions) {
        webhooks = tables.webhooks
        topics = tables.topics
        self.transaction = transaction
        self.trace = trace
    }

    /// Sets an app's webhook.
    ///
    /// A new webhook reports later events; an existing one keeps its position.
    func set(_ topicName: TopicName, _ url: String, _ secret: [UInt8]) throws(SQLError) -> RequestResult {
        guard trace.isOn else { return .failure(.traceOff) }
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        let known = try webhooks.all()
        guard known[topic] != nil || known.count < Limits.webhookCountMax else { return .failure(.tooMany) }
        try webhooks.set(topic, url: url, secret: secret, position: try trace.startWebhook())
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    /// Removes an app's webhook; succeeds without one.
    func remove(_ topicName: TopicName) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        try webhooks.remove(topic)
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    /// Records that the back-end has received all events up to a position.
    func advance(_ topic: TopicID, to position: Int64) throws(SQLError) -> RequestResult {
        try webhooks.advance(topic, to: position)
        return .success(.done)
    }

    /// Records that the back-end rejects the events or cannot be reached.
    func noteProblem(_ topic: TopicID, _ problem: String) throws(SQLError) -> RequestResult {
        try webhooks.noteProblem(topic, problem, now: transaction.now)
        return .success(.done)
    }
}
