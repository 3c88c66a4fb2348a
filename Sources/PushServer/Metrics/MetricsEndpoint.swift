// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// The port for monitoring: `/metrics`, `/healthz` and `/readyz`, for any peer that reaches it.
///
/// The answers contain no names of apps, teams or devices, and no paths. Peers can only read. `Limits` bounds the
/// connections and the rate of requests.
final class MetricsEndpoint: Endpoint {
    private let services: LoopServices
    private let bucket = TokenBucket(of: Limits.metricsRequestBurst, refilledBy: Limits.metricsRequestRate)
    private var fullAt = MonotonicTime.past
    /// The number of devices that do not trust the certificate, and the time at which it was determined.
    private var cutOff: (deviceCount: Int, at: MonotonicTime)?

    init(_ services: LoopServices) { self.services = services }

    /// Returns 0, because no request needs a body.
    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int { 0 }

    func refuseWhileClosing(_ exchange: HTTPExchange) { Self.send(exchange, status: 503, "The connection closes.") }

    func answerTimedOut(_ exchange: HTTPExchange) {
        Self.send(exchange, status: exchange.isComplete ? 503 : 408, "The request took too long.")
    }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { services.loop.markDirty(connection) }
        guard exchange.method == .get || exchange.method == .head else {
            exchange.addField("allow", "GET, HEAD")
            return Self.send(exchange, status: 405, "Allowed methods: GET and HEAD.")
        }
        let path = exchange.fields.text(exchange.path).prefix { $0 != "?" }
        // A refusal would cost as much as this answer, and would make a healthy server look broken.
        guard path != "/healthz" else { return Self.send(exchange, status: 200, "The server answers.") }
        guard takeToken() else {
            exchange.addField("retry-after", "1")
            return Self.send(exchange, status: 429, "Too many requests. Try again in a second.")
        }
        switch path {
        case "/metrics": answerMetrics(exchange, on: connection)
        case "/readyz": answerReadiness(exchange)
        default: Self.send(exchange, status: 404, "Use /metrics, /healthz or /readyz.")
        }
    }

    private func takeToken() -> Bool {
        guard case .taken(let next) = bucket.take(fullAt: fullAt, now: services.loop.events.now) else { return false }
        fullAt = next
        return true
    }

    // MARK: Metrics

    /// Sends the metrics, if necessary after a question to the store.
    ///
    /// A store that does not answer delays the scrape for a short time; the answer then has the earlier number.
    private func answerMetrics(_ exchange: HTTPExchange, on connection: ServerConnection) {
        let loop = services.loop
        if let cutOff, loop.events.now.duration(since: cutOff.at) < Limits.metricsTrustInterval {
            return sendMetrics(exchange)
        }
        let authorities = services.context.authorities
        services.perform(.allDevices(.trust), for: exchange, on: connection) { [weak self] result, exchange in
            guard let self else { return }
            if case .success(.trust(let trust)) = result {
                cutOff = (authorities.cutOffCount(trust, now: .now), services.loop.events.now)
            }
            sendMetrics(exchange)
        }
        let address = connection.address(of: exchange)
        loop.events.schedule(after: Limits.metricsStoreTimeout) { [weak self] in
            guard let self else { return }
            services.loop.answering(address) { exchange, _ in
                if !exchange.isAnswered { self.sendMetrics(exchange) }
            }
        }
    }

    private func sendMetrics(_ exchange: HTTPExchange) {
        let accept = exchange.fields.value(of: "accept").map { exchange.fields.text($0) }
        let format = ScrapeFormat(accept: accept)
        let source = MetricSource(
            services.context, cutOffDeviceCount: cutOff?.deviceCount, now: services.loop.events.now)
        var text = MetricText(format)
        for family in MetricFamily.all { text.append(family, family.read(source)) }
        text.end()
        Self.send(exchange, status: 200, text.text, type: format.contentType)
    }

    // MARK: Readiness

    private func answerReadiness(_ exchange: HTTPExchange) {
        let context = services.context
        let (cluster, now) = (context.metrics.store.cluster, services.loop.events.now)
        let check = ReadinessCheck(
            diskFullSince: context.storeCondition.diskFullSince,
            storeTurnNanoseconds: context.metrics.store.turnNanoseconds(now: now),
            certificateExpiry: context.installation.certificateExpiry, now: .now,
            isDraining: cluster.map { $0.draining.value != 0 } ?? false,
            isSuspended: cluster.map { $0.leaseNanoseconds(now: .elapsed) == 0 } ?? false)
        let problems = check.problems
        guard problems.isEmpty else { return Self.send(exchange, status: 503, problems.joined(separator: "\n")) }
        Self.send(exchange, status: 200, "The server is ready.")
    }

    private static func send(
        _ exchange: HTTPExchange, status: Int, _ text: String, type: StaticString = "text/plain; charset=utf-8"
    ) {
        exchange.addField("content-type", type)
        exchange.addField("cache-control", "no-store")
        exchange.respond(status: status, body: Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
    }
}
