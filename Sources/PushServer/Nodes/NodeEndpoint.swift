// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS
internal import PushWebSocket

/// Accepts the links of other nodes (`GET /v1/node`) on one loop.
///
/// Only a connection whose TLS handshake asked for a node's name, and showed a certificate of the cluster's authority,
/// can become a link.
final class NodeEndpoint {
    private let services: LoopServices
    private let accepted: AcceptedLinks
    private let commands: Mailbox<AcceptedLink.Command>
    private let engine: WebSocketEngine
    private var sockets: [ObjectIdentifier: NodeSocket] = [:]
    private var pingedAt = MonotonicTime.past

    /// Creates the endpoint of a loop.
    ///
    /// - Parameters:
    ///   - services: The services of the loop.
    ///   - accepted: The mailbox of `NodeLinks`, and its settings.
    /// - Throws: `NetError.system` without descriptors.
    init(_ services: LoopServices, _ accepted: AcceptedLinks) throws(NetError) {
        self.services = services
        self.accepted = accepted
        commands = try Mailbox()
        engine = WebSocketEngine(
            role: .server, messageKind: .binary, messageByteCountMax: NodeMessageLimits.packetByteCountMax,
            metrics: services.metrics.webSockets
        ) { UInt32(truncatingIfNeeded: SecureRandom.uint64()) }
        try services.loop.events.attach(commands) { [weak self] commands in
            for command in commands { self?.take(command) }
        }
    }

    /// Returns whether a path is that of links.
    static func takes(_ path: Span<UInt8>) -> Bool { Bytes.areEqual(path, "/v1/node") }

    /// Turns the connection into a link, or refuses.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { services.loop.markDirty(connection) }
        guard exchange.method == .get else {
            exchange.addField("allow", "GET")
            return ControlAnswer.refuse(exchange, status: 405, "MethodNotAllowed", "Use GET.")
        }
        guard let certificate = connection.encryption?.peerCertificate else {
            return refuse(exchange, on: connection, "no certificate of a node was shown")
        }
        guard case .own = certificate.verdict else {
            guard case .refused(let reason) = certificate.verdict else { return }
            return refuse(exchange, on: connection, reason)
        }
        guard let node = certificate.subjectCommonName.flatMap(ClusterAuthority.node) else {
            return refuse(exchange, on: connection, "the certificate is not that of a node")
        }
        open(exchange, on: connection, node)
    }

    private func open(_ exchange: HTTPExchange, on connection: ServerConnection, _ node: NodeNumber) {
        guard !services.loop.isShuttingDown else { return ControlAnswer.refuse(exchange, .unavailable("shutdown")) }
        let subprotocol = LinkSettings.subprotocol
        switch WebSocketUpgrade.check(exchange.fields, connection.upgradeReadiness, subprotocol: subprotocol) {
        case .none:
            WebSocketUpgrade.answer(
                exchange,
                .init(status: 426, word: "UpgradeRequired", detail: "A link requires 'Upgrade: websocket'."))
        case .refuse(let refusal): WebSocketUpgrade.answer(exchange, refusal)
        case .accept(let acceptance):
            connection.authenticated(as: .node(node.rawValue))
            WebSocketUpgrade.addFields(to: exchange, acceptance: acceptance, subprotocol: subprotocol)
            let isUpgraded = connection.upgrade { handshake in
                let link = AcceptedLink(to: node, events: accepted.events, commands: commands)
                let socket = NodeSocket(link, on: connection, engine: engine, handshake: handshake) { [weak self] in
                    self?.sockets[ObjectIdentifier($0.link)] = nil
                }
                sockets[ObjectIdentifier(link)] = socket
                return socket
            }
            if !isUpgraded { connection.close("the request cannot become a WebSocket") }
        }
    }

    private func refuse(_ exchange: HTTPExchange, on connection: ServerConnection, _ reason: String) {
        services.context.log.warning(
            "node_refused", ["reason": reason, "source": connection.source.description],
            about: connection.source.logSubject("node_refused"))
        if let seconds = services.countWrongCredential(on: connection) {
            return ControlAnswer.refuseStranger(exchange, retryAfterSeconds: seconds)
        }
        ControlAnswer.refuse(
            exchange, status: 403, "Forbidden", "Only a node of the cluster may open a link: \(reason).")
    }

    private func take(_ command: AcceptedLink.Command) {
        switch command {
        case .send(let link, let packets): sockets[ObjectIdentifier(link)]?.send(packets)
        case .close(let link, let reason): sockets[ObjectIdentifier(link)]?.end(reason)
        }
    }

    /// Sends pings that are due, and closes the links of silent nodes; called once a second.
    func tick() {
        let now = services.loop.events.now
        // The loop's ticks are not exactly a second apart.
        guard now.milliseconds(since: pingedAt) >= accepted.settings.pingMilliseconds * 9 / 10 else { return }
        pingedAt = now
        for socket in Array(sockets.values) { socket.tick() }
    }

    /// Ends all links.
    func endAll() { for socket in Array(sockets.values) { socket.end("shutdown") } }
}
