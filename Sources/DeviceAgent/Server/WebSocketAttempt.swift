// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushCurl
internal import PushNet
internal import PushTLS
internal import PushWebSocket

/// The stream over WebSocket, with libcurl for the connection and wslay for the frames.
///
/// libcurl connects, through proxies and TLS; wslay's frames then use its connection.
/// ```
/// connecting ──connected──▶ shaking hands ──101──▶ open ──close frame, or lost──▶ over
///     └──────────────────────────┴── refused, broken, failed ────────────────────▶ over
/// ```
final class WebSocketAttempt: StreamAttempt {
    weak var delegate: (any StreamAttemptDelegate)?

    private enum State {
        case connecting
        case shakingHands(ClientHandshake)
        case open(WebSocketConnection)
        case over
    }

    private let session: ServerSession
    private let loop: EventLoop
    private var state = State.connecting
    private var transfer: TransferID?
    private var channel: CurlChannel?
    private var watched: WatchedSocket?
    private var unsent: [UInt8] = []
    private var arrivals: [Arrival] = []
    private(set) var isProven = false
    /// The unconfirmed acknowledgements, identified by the ping that was sent after them.
    private var confirmation: (ping: [UInt8], completion: (Result<Void, ServerFailure>) -> Void)?
    private var pingCount: UInt64 = 0

    /// The maximum number of reads per turn of the event loop, so that other connections get their turn.
    private static let readsPerTurnCountMax = 32

    init(_ session: ServerSession, loop: EventLoop) {
        self.session = session
        self.loop = loop
    }

    // MARK: Connecting

    func begin() {
        var request = session.client.request("GET", "/v1/stream")
        request.timeout = nil
        // The client pings, and often enough that the server needs no short heartbeat interval.
        request.fields.append((Heartbeat.fieldText, "\(Limits.heartbeatIntervalMax.components.seconds)"))
        transfer = session.curl.connect(request) { [weak self, request] channel in
            self?.shakeHands(channel, request)
        } onFailure: { [weak self] error in
            self?.end(.failed(ConnectionFailure(error)))
        }
    }

    var path: NetworkPath { channel.map { NetworkPath(of: $0.socket) } ?? .unknown }

    func ping() -> Bool {
        guard case .open(let socket) = state else { return false }
        socket.ping()
        delegate?.attemptExpectsAnswer()
        flush()
        return true
    }

    func cancel() {
        delegate = nil
        end(.closed)
    }

    private func shakeHands(_ channel: CurlChannel, _ request: HTTPRequest) {
        let key = Base64.encode(SecureRandom.bytes(count: WebSocketHandshake.keyByteCount).span)
        let handshake = ClientHandshake(
            .init(
                authority: session.client.authority, path: "/v1/stream", fields: request.fields,
                subprotocol: StreamMessage.subprotocol),
            key: key, base64SHA1: { Base64.encode(SHA1.hash($0).span) })
        self.channel = channel
        unsent = handshake.request
        state = .shakingHands(handshake)
        do throws(NetError) {
            watched = try WatchedSocket(channel.socket, for: .readable, loop: loop) { [weak self] in self?.ready($0) }
        } catch {
            return end(.failed(.init(.unreachable, "\(error)")))
        }
        flush()
    }

    // MARK: The socket

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.readable) || readiness.contains(.failed) { receive() }
        flush()
    }

    private func receive() {
        for _ in 0..<Self.readsPerTurnCountMax {
            guard let channel else { return }
            var ending: StreamEnding?
            do throws(CurlError) {
                switch try channel.receive({ receive($0) }) {
                case .bytes: continue
                case .mustWait: break
                case .closed: ending = endOfConnection("the server closed the connection")
                }
            } catch {
                ending = endOfConnection(error.messageWithAdvice)
            }
            deliver()
            if let ending { end(ending) }
            return
        }
        deliver()
        // Bytes that TLS has buffered do not make the socket readable.
        loop.schedule(after: .zero) { [weak self] in self?.ready(.readable) }
    }

    private func endOfConnection(_ reason: String) -> StreamEnding {
        switch state {
        case .shakingHands: .broken("\(reason), inside the handshake")
        case .connecting, .open, .over: .failed(.init(.unreachable, reason))
        }
    }

    private func receive(_ bytes: Span<UInt8>) {
        delegate?.attemptReceivedData()
        switch state {
        case .shakingHands(var handshake):
            // Two owners of the handshake would cause a copy.
            state = .connecting
            let progress = handshake.receive(bytes)
            state = .shakingHands(handshake)
            take(progress, heartbeat: handshake.acceptedValue(of: Heartbeat.fieldText))
        case .open(let socket):
            socket.receive(bytes, for: self)
            isProven = isProven || socket.frameCount > 0
            if let closure = socket.closure { took(closure, socket) }
        case .connecting, .over: break
        }
    }

    private func take(_ progress: ClientHandshake.Progress, heartbeat: String?) {
        switch progress {
        case .needsMore: break
        case .accepted(let rest):
            let engine = WebSocketEngine(role: .client, messageByteCountMax: Limits.streamEventByteCountMax) {
                UInt32(truncatingIfNeeded: SecureRandom.uint64())
            }
            let socket = WebSocketConnection(engine: engine)
            state = .open(socket)
            delegate?.attemptOpened(heartbeat: heartbeat)
            if !rest.isEmpty { receive(rest.span) }
        case .broken(let reason): end(.broken(reason))
        case .refused(401, _): end(.unauthorized)
        case .refused(let status, let retryAfter):
            let hasNoWebSocket = (200..<300).contains(status) || [400, 404, 405, 426, 501].contains(status)
            end(
                hasNoWebSocket
                    ? .unsupported("the server answered \(status)")
                    : .refused(status: status, retryAfter: retryAfter))
        }
    }

    /// Writes pending bytes, and watches for writability while some remain.
    private func flush() {
        guard let channel else { return }
        if case .open(let socket) = state { socket.collectOutput(into: &unsent, limit: Limits.outputByteCountMax) }
        do throws(CurlError) {
            while !unsent.isEmpty {
                let bytes = unsent
                guard case .bytes(let byteCount) = try channel.send(bytes.span) else { break }
                unsent.removeFirst(byteCount)
            }
        } catch {
            return end(endOfConnection(error.messageWithAdvice))
        }
        do throws(NetError) { try watched?.modify(unsent.isEmpty ? .readable : [.readable, .writable]) } catch {
            end(.failed(.init(.unreachable, "\(error)")))
        }
    }

    // MARK: The end

    private func took(_ closure: WebSocketConnection.Closure, _ socket: WebSocketConnection) {
        let code = closure.code.rawValue
        if [1002, 1003, 1007, 1008, 1009].contains(code), closure.isByPeer, let confirmation {
            // The server would refuse the same acknowledgements again.
            self.confirmation = nil
            confirmation.completion(
                .failure(.refused(status: 400, error: "\(code)", detail: "it closed the stream over them")))
        }
        deliver()
        flush()
        end(closure.isByPeer ? .closed : .failed(.init(.server, closure.reason)))
    }

    private func end(_ ending: StreamEnding) {
        if case .over = state { return }
        if case .open(let socket) = state {
            // Sends a close frame if that does not block; nothing depends on it.
            socket.close(.goingAway, reason: "")
            socket.collectOutput(into: &unsent, limit: Limits.outputByteCountMax)
            let bytes = unsent
            _ = try? channel?.send(bytes.span)
        }
        state = .over
        watched = nil
        channel = nil
        if let transfer { session.curl.cancel(transfer) }
        transfer = nil
        let unconfirmed = confirmation
        confirmation = nil
        unconfirmed?.completion(.failure(.unreachable("the stream ended")))
        let delegate = self.delegate
        self.delegate = nil
        delegate?.attemptEnded(ending)
    }
}

// MARK: Messages

extension WebSocketAttempt: WebSocketDelegate {
    package func received(text: Span<UInt8>) {
        switch try? StreamMessage.fromServer(text) {
        case .notification(let data)?:
            let sequence = (try? JSONValue(parsing: data.span))?["id"]?.integer
            if let arrival = Arrival(notificationData: data, sequence: sequence) { arrivals.append(arrival) }
        case .version(let notice)?: delegate?.attemptReceived(notice)
        case .goodbye(let goodbye)?: delegate?.attemptReceived(goodbye)
        case .unknown?: break  // Messages that later servers may send.
        case nil: agentLog.warning("message_unreadable")
        }
    }

    package func received(pong: Span<UInt8>) {
        guard let confirmation, confirmation.ping.elementsEqual((0..<pong.count).map { pong[$0] }) else { return }
        self.confirmation = nil
        confirmation.completion(.success(()))
    }

    /// Delivers the notifications of this turn as one batch.
    private func deliver() {
        guard !arrivals.isEmpty else { return }
        var batch: [Arrival] = []
        swap(&batch, &arrivals)
        delegate?.attemptReceived(batch)
    }

    /// Sends acknowledgements and a ping after them, whose pong confirms that the server has read them.
    ///
    /// - Parameters:
    ///   - acknowledgements: The acknowledgements, at most as many as fit into a message.
    ///   - completion: Called once, unless this function returns false.
    /// - Returns: Whether the acknowledgements were sent; false if that is not possible now.
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], completion: @escaping (Result<Void, ServerFailure>) -> Void
    ) -> Bool {
        guard case .open(let socket) = state, confirmation == nil else { return false }
        var text: [UInt8] = []
        StreamMessage.append(acknowledgements, to: &text)
        pingCount += 1
        let ping = Array("\(pingCount)".utf8)
        confirmation = (ping, completion)
        socket.send(text: text.span)
        socket.ping(ping)
        delegate?.attemptExpectsAnswer()
        flush()
        return true
    }
}
