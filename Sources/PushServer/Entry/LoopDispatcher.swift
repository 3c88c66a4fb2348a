// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// Connects a loop to the APIs: creates the endpoints, and passes the store's replies to those that wait for them.
final class LoopDispatcher: LoopDelegate {
    private let services: LoopServices
    private let streams: DeviceStreams
    /// Nil without a cluster.
    private let nodes: NodeEndpoint?
    /// Nil unless the server is ephemeral.
    private let testMode: TestMode?

    /// Creates the APIs of a loop; the caller attaches them to the loop.
    init(_ loop: ServerLoop, _ context: ServerContext, _ testMode: TestMode?) throws(ServerError) {
        self.testMode = testMode
        let services: LoopServices
        do throws(TLSError) { services = try LoopServices(loop, context) } catch { throw .tls(error) }
        self.services = services
        streams = DeviceStreams(services)
        nodes = try context.acceptedLinks.map { links throws(ServerError) in
            try ServerError.wrapping { () throws(NetError) in try NodeEndpoint(services, links) }
        }
    }

    /// Creates a loop with its APIs.
    ///
    /// - Parameters:
    ///   - index: The index of the loop among the store's receivers.
    ///   - context: The state that all loops share.
    ///   - testMode: The parts for tests; nil unless the server is ephemeral.
    ///   - mailbox: The mailbox for messages from other threads.
    ///   - certificate: The server's certificate; nil for a loop without network ports.
    /// - Returns: The loop, without listeners.
    /// - Throws: `ServerError.system` without memory or descriptors, `ServerError.tls` for unusable keys.
    static func makeLoop(
        index: UInt32, context: ServerContext, testMode: TestMode?, mailbox: Mailbox<LoopMessage>,
        certificate: TLSContext?
    ) throws(ServerError) -> ServerLoop {
        let loop = try ServerError.wrapping { () throws(ServingError) in
            try ServerLoop(index: index, context: context.serving, mailbox: mailbox, certificate: certificate)
        }
        loop.attach(try LoopDispatcher(loop, context, testMode))
        return loop
    }

    func makeEndpoint(_ kind: ListenerKind) -> any Endpoint {
        switch kind {
        case .admin: return AdminEndpoint(services, testMode: testMode)
        case .metrics: return MetricsEndpoint(services)
        case .network(let port):
            let network = NetworkEndpoint(
                services, streams, nodes, role: services.settings.configuration.ports[port].role)
            guard let testMode else { return network }
            return TestModeEndpoint(network, testMode.failures)
        }
    }

    func take(_ reply: StoreReply) {
        switch reply {
        case .accepted(let answer):
            services.unansweredAcceptCount -= 1
            services.loop.answering(answer) { exchange, _ in
                guard !exchange.isAnswered else { return }
                if let progress = exchange.context as? SendProgress {
                    progress.answered(nil, exchange, answer)
                } else {
                    let now = services.loop.events.now
                    services.metrics.accept.observe(nanoseconds: now.nanoseconds(since: exchange.arrivedAt))
                    ProviderAnswer.accept(exchange)
                }
            }
        case .refused(let reason, let time, let answer):
            services.unansweredAcceptCount -= 1
            services.loop.answering(answer) { exchange, _ in
                (exchange.context as? PayloadWarnings)?.counted?.refund()
                guard !exchange.isAnswered else { return }
                if let progress = exchange.context as? SendProgress {
                    return progress.answered(reason, exchange, answer)
                }
                ProviderAnswer.reject(
                    exchange, refusedByStore: reason, services.context.storeCondition, countedBy: services.metrics,
                    invalidSince: time)
            }
        case .attached(let device, let stream): streams.attached(device, stream)
        case .deliver(let notifications, let stream): streams.deliver(notifications, to: stream)
        case .broadcast(let pending, let addresses): streams.deliver(pending, to: addresses)
        case .ended(let end, let stream): streams.ended(end, stream)
        case .performed(let result, let answer): services.performed(result, answer)
        case .directory(let directory):
            let earlier = services.directory.notices
            services.directory = TopicDirectory(directory)
            services.loop.submit(.usesDirectory(version: directory.version, loop: services.loop.index))
            for notice in services.directory.notices where !earlier.contains(notice) { streams.tell(notice) }
        // The loop passes these messages to its host.
        case .host: break
        }
    }

    func settingsChanged() { services.settings = services.context.settings }

    func tick() {
        streams.tick()
        nodes?.tick()
    }

    func shutDown() {
        streams.endAll()
        nodes?.endAll()
    }
}
