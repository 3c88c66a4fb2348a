// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
internal import PushCurl
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// Sends the history of notifications to back-ends, on a thread of its own.
///
/// The store's directory lists the apps that have a webhook. The trace of each app is queried at most once a second,
/// and its new events are sent in one request at a time. The store keeps the position that was reached.
final class WebhookSender {
    /// The timeout of a request.
    private static let requestTimeout = Duration.seconds(10)
    /// The number of bytes to read of a response before its connection is abandoned.
    private static let answerByteCountMax = 64 * 1024
    /// The number of bytes in the trace without an event for the app after which its position is stored anyway.
    private static let silentByteCount: Int64 = 1 << 20

    /// The exchange ID of queries; `note` is that of writes.
    private static let search: Int32 = 0
    private static let note: Int32 = 1

    /// An app with a webhook.
    private struct Target {
        var topicName: TopicName
        var webhook: Webhook
        var delivery: WebhookDelivery
        /// The position in the store.
        var storedPosition: Int64
        var isFailing: Bool
    }

    private let loop: UInt32
    private let context: ServerContext
    private let inbox: WebhookInbox
    private let metrics: WebhookMetrics
    private let ciphers: TokenCiphers
    private let client: ThreadClient
    private let start = ContinuousClock.now
    private var targets: [TopicID: Target] = [:]

    /// Creates a sender with the inbox's index among the store's receivers.
    ///
    /// - Throws: `ServerError.system` if the process has no descriptors left, and `ServerError.tls` if a token key
    ///   cannot be used.
    init(loop: UInt32, context: ServerContext, inbox: WebhookInbox) throws(ServerError) {
        guard let client = ThreadClient() else {
            throw .system(.system(call: "curl_multi_wakeup", code: EMFILE, subject: ""))
        }
        self.client = client
        self.loop = loop
        self.context = context
        self.inbox = inbox
        metrics = context.metrics.webhooks
        do throws(TLSError) { ciphers = try TokenCiphers(context.installation.tokenKeys) } catch { throw .tls(error) }
    }

    /// Sends events until the inbox is stopped; requests under way are repeated after the next start.
    func run() {
        inbox.attach(client.waker)
        while true {
            let waiting = inbox.take()
            for reply in waiting.replies { take(reply) }
            if waiting.isStopping { return }
            for topic in targets.keys { ask(topic) }
            publishLag()
            client.wait(atMost: pause)
        }
    }

    private var now: Duration { ContinuousClock.now - start }

    /// The time until the next query is due; messages from the store or a back-end wake the thread earlier.
    private var pause: Duration {
        let due = targets.values.compactMap(\.delivery.due).min()
        return max(.zero, min((due ?? .seconds(60) + now) - now, .seconds(60)))
    }

    /// Writes to the metrics how far the slowest back-end is behind.
    private func publishLag() {
        let behind = targets.values.compactMap { target in
            target.delivery.behindSince.map { (since: $0, position: target.delivery.position) }
        }
        metrics.position.set(behind.map(\.position).min() ?? 0)
        let since = behind.map { now - $0.since }.max().map { MonotonicTime.now.nanoseconds - $0.nanoseconds }
        metrics.behindSince.set(since ?? 0)
    }

    // MARK: From the store

    private func take(_ reply: StoreReply) {
        switch reply {
        case .directory(let directory): adopt(directory)
        case .performed(let result, let answer):
            // Writes need no answer.
            if answer.exchange == Self.search { take(result, for: TopicID(rawValue: answer.slot)) }
        case .accepted, .refused, .attached, .deliver, .broadcast, .ended, .host: break
        }
    }

    private func adopt(_ directory: Directory) {
        var next: [TopicID: Target] = [:]
        for topic in directory.topics.values {
            guard let webhook = topic.webhook else { continue }
            var target =
                targets[topic.id]
                ?? Target(
                    topicName: topic.name, webhook: webhook,
                    delivery: WebhookDelivery(position: webhook.position, now: now),
                    storedPosition: webhook.position, isFailing: webhook.failingSince != nil)
            if target.webhook.url != webhook.url { target.isFailing = false }
            target.webhook = webhook
            next[topic.id] = target
        }
        targets = next
    }

    private func address(_ topic: TopicID, exchange: Int32) -> ReplyAddress {
        ReplyAddress(loop: loop, slot: topic.rawValue, generation: 0, exchange: exchange)
    }

    private func ask(_ topic: TopicID) {
        guard let position = targets[topic]?.delivery.begin(now: now), let name = targets[topic]?.topicName else {
            return
        }
        let query = TraceQuery(
            .app(topic: name), after: position, countMax: Limits.webhookBatchCountMax, isForWebhook: true)
        context.serving.store.submit([
            .perform(.allDevices(.trace(query)), answer: address(topic, exchange: Self.search))
        ])
    }

    private func take(_ result: Result<StoreAnswer, StoreRefusal>, for topic: TopicID) {
        switch result {
        case .success(.trace(let findings)): take(findings, for: topic)
        case .success: break
        // The disk failed, or there are too many queries: retry later.
        case .failure: targets[topic]?.delivery.failed(now: now, fraction: 1)
        }
    }

    private func take(_ findings: TraceFindings, for topic: TopicID) {
        guard var target = targets[topic] else { return }
        defer { targets[topic] = target }
        if findings.hasGap {
            metrics.gaps.add()
            let remedy = "raise trace_days or trace_megabytes, or repair the webhook sooner"
            context.log.warning("webhook_events_lost", ["topic": target.topicName.text, "remedy": remedy])
        }
        target.delivery.found(
            eventCount: findings.entries.count, next: findings.next, isMore: findings.isMore, now: now)
        guard findings.entries.isEmpty else { return post(findings.entries, to: target, topic) }
        if target.delivery.position - target.storedPosition >= Self.silentByteCount, !target.isFailing {
            advance(&target, topic, to: target.delivery.position)
        }
    }

    private func advance(_ target: inout Target, _ topic: TopicID, to position: Int64) {
        target.storedPosition = position
        let answer = address(topic, exchange: Self.note)
        context.serving.store.submit([.perform(.control(.advanceWebhook(topic, to: position)), answer: answer)])
    }

    // MARK: To the back-end

    private func post(_ entries: [TraceEntry], to target: Target, _ topic: TopicID) {
        let body = WebhookMessage.body(entries, topic: target.topicName) { token in
            ciphers.cipher(for: token.environment).deviceToken(token.contents)
        }
        var request = HTTPRequest(method: "POST", url: target.webhook.url)
        request.fields = [
            ("content-type", "application/json"), ("user-agent", "posthornd/\(ProductVersion.text)"),
            (
                "posthorn-signature",
                WebhookMessage.signature(of: body, secret: target.webhook.secret, now: .now)
            ),
        ]
        request.body = body
        request.timeout = Self.requestTimeout
        request.answerByteCountMax = Self.answerByteCountMax
        request.ignoresBody = true
        request.caFile = context.settings.configuration.webhookAuthorityFile
        client.start(request) { [unowned self] result in self.posted(result, to: topic) }
    }

    private func posted(_ result: Result<HTTPResponse, CurlError>, to topic: TopicID) {
        guard var target = targets[topic] else { return }
        defer { targets[topic] = target }
        guard let problem = Self.problem(result) else {
            metrics.acceptedRequests.add()
            if target.isFailing { context.log.info("webhook_recovered", ["topic": target.topicName.text]) }
            target.isFailing = false
            let position = target.delivery.taken(now: now)
            return advance(&target, topic, to: position)
        }
        metrics.failedRequests.add()
        if target.delivery.failureCount == 0 {
            context.log.warning("webhook_failing", ["topic": target.topicName.text, "problem": problem])
        }
        target.isFailing = true
        target.delivery.failed(now: now, fraction: .random(in: 0.5...1))
        let answer = address(topic, exchange: Self.note)
        context.serving.store.submit([.perform(.control(.noteWebhookProblem(topic, problem)), answer: answer)])
    }

    /// Returns the problem with a response, or nil if the back-end accepted the events.
    private static func problem(_ result: Result<HTTPResponse, CurlError>) -> String? {
        switch result {
        case .success(let response) where (200...299).contains(response.status): nil
        case .success(let response) where (300...399).contains(response.status):
            "the back-end answered \(response.status); redirects are not followed, so set the URL it redirects to"
        case .success(let response): "the back-end answered \(response.status)"
        case .failure(let error): String(error.message.prefix(200))
        }
    }
}

extension Duration {
    /// The whole nanoseconds of a duration of less than 292 years.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
