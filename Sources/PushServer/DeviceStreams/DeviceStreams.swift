// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS
internal import PushWebSocket

/// The devices' streams (`GET /v1/stream`) of one loop.
///
/// ```
/// opening ──attached──▶ open ──ended by the store, or shutdown──▶ (goodbye) gone
///    │                    └───────connection lost───────────────▶ gone, store notified
///    └──refused by the store──▶ gone
/// ```
final class DeviceStreams {
    /// A stream that is opening, or that is open as server-sent events.
    private struct Stream {
        /// The device's credential, kept until the store has identified the device.
        var credential: DeviceCredential?
        /// The answer to the key of a WebSocket handshake; nil for server-sent events.
        var acceptance: [UInt8]?
        var device: DeviceID?
        /// The open stream; nil while it is opening.
        var sender: (any DeviceEventWriter)?
        /// The heartbeat interval that was granted to the device; nil if it did not ask for one.
        var heartbeatSeconds: Int64?
    }

    /// The time after which a device reconnects after a restart; the agent adds a random part.
    fileprivate static let shutdownRetrySeconds: Int64 = 1
    /// The reason for closing a connection whose peer does not read the output.
    static let unreadReason = "the device does not read its stream"

    private let services: LoopServices
    private var streams: [ReplyAddress: Stream] = [:]
    /// The streams that are open over WebSockets.
    private var sockets = SocketTable()
    private var scratch: [UInt8] = []
    /// The identity of a broadcast, whose message has the same bytes for all its devices.
    private struct BroadcastName: Equatable {
        var sequence: Int64
        var uniqueID: UniqueID
    }
    private var broadcastName: BroadcastName?
    private var broadcastMessage: [UInt8] = []
    private lazy var heartbeats = HeartbeatWheel(second: second)
    /// The engine that the WebSockets of the loop share.
    let engine: WebSocketEngine

    init(_ services: LoopServices) {
        self.services = services
        engine = WebSocketEngine(
            role: .server, messageByteCountMax: Limits.controlBodyByteCountMax, metrics: services.metrics.webSockets
        ) { UInt32(truncatingIfNeeded: SecureRandom.uint64()) }
    }

    /// Asks the store to attach the device; the response starts when it has.
    func open(_ exchange: HTTPExchange, on connection: ServerConnection, _ credential: DeviceCredential) {
        guard !services.loop.isShuttingDown else {
            return Self.refuse(exchange, "shutdown", retryAfterSeconds: Self.shutdownRetrySeconds)
        }
        var acceptance: [UInt8]?
        switch WebSocketUpgrade.check(exchange.fields, connection.upgradeReadiness) {
        case .none: break
        case .accept(let bytes): acceptance = bytes
        case .refuse(let refusal): return WebSocketUpgrade.answer(exchange, refusal)
        }
        let address = connection.address(of: exchange)
        connection.peer.carriesStream = true
        streams[address] = Stream(
            credential: credential, acceptance: acceptance, heartbeatSeconds: Self.heartbeatSeconds(exchange.fields))
        exchange.context = StoreContinuation { [unowned self] result, exchange in
            guard case .failure(let refusal) = result else { return }
            self.streams[address] = nil
            if refusal == .draining {
                return Self.refuse(exchange, "this node of the cluster takes no devices", retryAfterSeconds: 0)
            }
            guard refusal == .unauthorized else { return ControlAnswer.refuse(exchange, refusal) }
            services.context.deviceSecrets.insertUnknown(credential)
            guard let seconds = services.countWrongCredential(on: connection) else {
                return ControlAnswer.refuse(exchange, refusal)
            }
            ControlAnswer.refuseStranger(exchange, retryAfterSeconds: seconds)
        }
        let agent = Self.agent(exchange.fields)
        services.loop.submit(.attach(credential, stream: address, agent: agent))
    }

    func attached(_ device: DeviceID, _ address: ReplyAddress) {
        var isRefused = false
        services.loop.answering(address) { exchange, _ in isRefused = exchange.isAnswered }
        guard streams[address] != nil, !isRefused else { return services.loop.submit(.detach(stream: address)) }
        if let credential = streams[address]?.credential {
            services.context.deviceSecrets.insert(device, for: credential)
        }
        streams[address]?.credential = nil
        streams[address]?.device = device
        services.loop.answering(address) { exchange, connection in
            exchange.context = nil
            connection.authenticated(as: .device(device))
            begin(exchange, on: connection, device, address)
        }
    }

    private func begin(
        _ exchange: HTTPExchange, on connection: ServerConnection, _ device: DeviceID, _ address: ReplyAddress
    ) {
        let sender: any DeviceEventWriter
        if let seconds = streams[address]?.heartbeatSeconds {
            exchange.addField(Heartbeat.fieldName, "\(seconds)".utf8.span)
        }
        if let acceptance = streams[address]?.acceptance {
            // The peer may have closed or broken the connection while the store worked.
            guard connection.upgradeReadiness == .ready else {
                streams[address]?.acceptance = nil
                return WebSocketUpgrade.answer(exchange, .body)
            }
            WebSocketUpgrade.addFields(to: exchange, acceptance: acceptance)
            let seconds = heartbeatSeconds(of: address)
            let isUpgraded = connection.upgrade { handshake in
                let socket = DeviceSocket(
                    device, address, on: connection, streams: self, heartbeatSeconds: seconds, handshake: handshake)
                sockets.insert(socket)
                return socket
            }
            streams[address] = nil
            guard isUpgraded, let socket = sockets.find(address) else {
                return connection.close("the request cannot become a WebSocket")
            }
            sender = socket
        } else {
            sender = EventStreamSender(exchange, on: connection, streams: self)
        }
        streams[address]?.sender = sender
        // A random first interval spreads the heartbeats of devices that connected at the same time.
        let seconds = heartbeatSeconds(of: address)
        heartbeats.schedule(address, inSeconds: Int64.random(in: seconds / 2...seconds))
        services.context.log.info(
            "device_connected",
            ["device": device.text, "stream": type(of: sender).name, "source": connection.source.description],
            about: device.text)
        // They may have changed while the device was away.
        for notice in services.directory.notices where notice.version > 0 { sender.tell(notice) }
    }

    func deliver(_ notifications: [PendingNotification], to address: ReplyAddress) {
        guard let sender = sender(at: address) else { return }
        let connectionAge = services.loop.events.now.nanoseconds(since: sender.connectedAt)
        services.metrics.noteDelivered(notifications, connectionMilliseconds: connectionAge / 1_000_000)
        sender.send(notifications)
    }

    /// Delivers a broadcast to the streams of its subscribers.
    func deliver(_ broadcast: PendingNotification, to addresses: [ReplyAddress]) {
        let notifications = [broadcast]
        for address in addresses { deliver(notifications, to: address) }
    }

    private func sender(at address: ReplyAddress) -> (any DeviceEventWriter)? {
        sockets.find(address) ?? streams[address]?.sender
    }

    /// Ends a stream for the store, because another one replaced it or the device was removed.
    func ended(_ end: StreamEnd, _ address: ReplyAddress) {
        guard streams[address] != nil || sockets.find(address) != nil else { return }
        say(StreamGoodbye(reason: end.rawValue, retryAfterSeconds: end.retryAfterSeconds), to: address)
    }

    /// Takes acknowledgements from the rate of a device; returns false if the rate is used up.
    func takeAcknowledgements(_ count: Int, of device: DeviceID) -> Bool {
        services.settings.rates.takeAcknowledgements(count, of: device, now: services.loop.events.now) == nil
    }

    /// Forwards acknowledgements that a device sent on its stream.
    func acknowledge(_ acknowledgements: [DeviceAPI.Acknowledgement], by device: DeviceID) {
        services.loop.submit(.acknowledge(acknowledgements, by: device))
    }

    /// Handles the end of an exchange by either side; a stream that became a WebSocket continues.
    func exchangeEnded(_ address: ReplyAddress) {
        guard streams[address]?.acceptance == nil || streams[address]?.device == nil else { return }
        streamEnded(address)
    }

    /// Ends a stream, open or opening, whose device has gone; returns false if the address has no stream.
    func end(_ address: ReplyAddress) -> Bool {
        guard streams[address] != nil else { return false }
        streamEnded(address)
        return true
    }

    /// Removes a stream that either side has ended.
    func streamEnded(_ address: ReplyAddress) {
        let socket = sockets.remove(address)
        let stream = streams.removeValue(forKey: address)
        guard socket != nil || stream != nil else { return }
        if let device = (socket?.device ?? stream?.device)?.text {
            services.context.log.info("device_disconnected", ["device": device], about: device)
        }
        services.loop.submit(.detach(stream: address))
    }

    // MARK: Heartbeats

    /// Sends the heartbeats that are due and drops devices that do not read, once a second.
    func tick() {
        for address in heartbeats.advance(to: second) {
            guard let sender = sender(at: address) else { continue }
            heartbeats.schedule(address, inSeconds: heartbeatSeconds(of: address))
            sender.sendHeartbeat()
        }
    }

    private var second: Int { Int(services.loop.events.now.nanoseconds / 1_000_000_000) }

    private func heartbeatSeconds(of address: ReplyAddress) -> Int64 {
        sockets.find(address)?.heartbeatSeconds ?? streams[address]?.heartbeatSeconds
            ?? Limits.heartbeatInterval.components.seconds
    }

    /// Returns the heartbeat interval granted to a device that asks for one.
    private static func heartbeatSeconds(_ fields: FieldTable) -> Int64? {
        guard let range = fields.value(of: Heartbeat.fieldName) else { return nil }
        let bytes = fields.bytes
        return Decimal.parse(bytes.span.extracting(range)).map(Heartbeat.granted)
    }

    /// The maximum length of an agent's name and version, in bytes.
    private static let agentByteCountMax = 64

    /// Returns the first product in `user-agent`, which is the name and version of the device's agent; empty for none.
    private static func agent(_ fields: FieldTable) -> String {
        guard let range = fields.value(of: "user-agent") else { return "" }
        let product = fields.bytes[range].prefix(agentByteCountMax).prefix { (0x21...0x7E).contains($0) }
        return String(decoding: product, as: UTF8.self)
    }

    /// Announces to every device that policies or authorities changed.
    func tell(_ notice: VersionNotice) {
        for stream in streams.values { stream.sender?.tell(notice) }
        for socket in sockets.all { socket.tell(notice) }
    }

    /// Ends every stream with a goodbye, so that devices reconnect soon but not all at once.
    func endAll() {
        let goodbye = StreamGoodbye(reason: "shutdown", retryAfterSeconds: Self.shutdownRetrySeconds)
        for address in streams.keys { say(goodbye, to: address) }
        for socket in sockets.all { socket.end(goodbye) }
    }

    private func say(_ goodbye: StreamGoodbye, to address: ReplyAddress) {
        if let sender = sender(at: address) { return sender.end(goodbye) }
        services.loop.answering(address) { exchange, _ in
            guard !exchange.isAnswered else { return }
            let seconds = goodbye.retryAfterSeconds ?? Self.shutdownRetrySeconds
            Self.refuse(exchange, goodbye.reason, retryAfterSeconds: seconds)
        }
    }

    private static func refuse(_ exchange: HTTPExchange, _ reason: String, retryAfterSeconds: Int64) {
        let refusal = StoreRefusal.unavailable(reason)
        ControlAnswer.refuse(
            exchange, status: refusal.status, refusal.word, refusal.detail, retryAfterSeconds: retryAfterSeconds)
    }

    // MARK: For the streams

    /// Passes an empty buffer to the body.
    func withScratch(_ body: (inout [UInt8]) -> Void) {
        var lent: [UInt8] = []
        swap(&lent, &scratch)
        body(&lent)
        lent.removeAll(keepingCapacity: lent.capacity <= Limits.outputByteCountHigh)
        swap(&lent, &scratch)
    }

    /// Returns the message of a broadcast, which is encoded once for all its devices; nil for any other notification.
    func broadcastMessage(of pending: PendingNotification) -> [UInt8]? {
        guard pending.notification.channel != nil else { return nil }
        let name = BroadcastName(sequence: pending.sequence, uniqueID: pending.notification.uniqueID)
        if name != broadcastName {
            broadcastMessage.removeAll(keepingCapacity: true)
            broadcastMessage.append(addingCapacity: StreamMessage.byteCountMax(of: pending)) {
                StreamMessage.append(pending, to: &$0)
            }
            broadcastName = name
        }
        return broadcastMessage
    }
}

extension StreamEnd {
    /// The time after which a retry is useful.
    fileprivate var retryAfterSeconds: Int64 {
        switch self {
        case .replaced: 60
        case .removed: 3600
        // Only a node of a cluster ends streams without stopping, and the other nodes take its devices.
        case .shutdown: 0
        }
    }
}
