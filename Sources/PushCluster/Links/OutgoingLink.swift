// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS
internal import PushWebSocket

/// Receives what happens on an outgoing connection, on the thread of its loop.
protocol OutgoingLinkOwner: AnyObject {
    /// The WebSocket is open.
    func opened(_ connection: OutgoingLink)
    /// A packet has arrived, with any content.
    func received(_ packet: [UInt8], on connection: OutgoingLink)
    /// The connection has ended without `close`.
    func ended(_ connection: OutgoingLink, reason: String)
}

/// The state that all outgoing connections of a thread share.
final class OutgoingLinkContext {
    let loop: EventLoop
    let engine = WebSocketEngine(
        role: .client, messageKind: .binary, messageByteCountMax: NodeMessageLimits.packetByteCountMax
    ) { UInt32(truncatingIfNeeded: SecureRandom.uint64()) }
    /// The settings of connections that open from now on.
    var tls: TLSContext
    /// Space for the bytes of one read.
    var input = [UInt8](repeating: 0, count: 16 << 10)

    init(_ loop: EventLoop, _ tls: TLSContext) {
        self.loop = loop
        self.tls = tls
    }

    /// Reads bytes into `input`.
    func read(from connection: TLSConnection) -> Result<TLSConnection.Transfer, TLSError> {
        unsafe input.withUnsafeMutableBytes { buffer in
            Result { () throws(TLSError) in try unsafe connection.read(into: buffer) }
        }
    }
}

/// A connection that this node opens to another one.
///
/// ```
/// connecting ──writable──▶ securing ──TLS 1.3, certificate──▶ upgrading ──101──▶ open
///     └───────────────────────┴───────── failed ─────────────────┴──── lost ───────┴──▶ closed
/// ```
final class OutgoingLink: EventHandler, LinkTransport, WebSocketDelegate {
    private enum State {
        case connecting
        case securing(TLSConnection)
        case upgrading(TLSConnection, ClientHandshake)
        case open(TLSConnection, WebSocketConnection)
        case closed
    }

    /// The maximum number of reads in a turn of the loop, so that other connections get their turn.
    private static let readsPerTurnCountMax = 32
    /// The number of bytes that are passed to TLS together.
    private static let outputByteCountMax = 64 << 10

    private let context: OutgoingLinkContext
    private let socket: ConnectingSocket
    /// The node at the other end.
    let node: NodeNumber
    /// The name in the certificate of the other node.
    private let name: String
    private weak var owner: (any OutgoingLinkOwner)?
    private var state = State.connecting
    private var registration: Registration?
    private var interest = Readiness.writable
    /// Whether TLS must write before it can read on.
    private var readsAfterWriting = false
    private var unsent: [UInt8] = []
    private var unsentOffset = 0
    /// The time until which the connection must become a link.
    private let deadline: MonotonicTime
    /// Whether the other node has sent its instance.
    var isLink = false

    /// Watches a connecting socket.
    init(
        _ socket: ConnectingSocket, to node: NodeNumber, _ context: OutgoingLinkContext,
        deadline: MonotonicTime, owner: any OutgoingLinkOwner
    ) throws(NetError) {
        self.socket = socket
        self.node = node
        self.context = context
        self.deadline = deadline
        self.owner = owner
        name = ClusterAuthority.name(of: node)
        registration = try context.loop.register(socket.descriptor.rawValue, for: interest, handler: self)
    }

    // MARK: The transport

    var waitingByteCount: Int {
        let rest = unsent.count - unsentOffset
        guard case .open(_, let socket) = state else { return rest }
        return rest + socket.outputByteCount
    }

    func send(_ packets: [[UInt8]]) {
        guard case .open(_, let socket) = state else { return }
        for packet in packets { socket.send(binary: packet.span) }
        flush()
    }

    func close(_ reason: String) {
        owner = nil
        if case .open(_, let socket) = state {
            // If the socket cannot take the close frame now, the peer sees only the end of the connection.
            socket.close(.goingAway, reason: reason)
            flush()
        }
        end(reason)
    }

    /// Sends a ping, or ends the connection if the other node is silent; called in the interval of the settings.
    func tick() {
        switch state {
        case .closed: return
        case .open(_, let socket) where isLink:
            guard socket.unansweredPingCount < LinkSettings.unansweredPingCountMax else {
                return end("the node does not answer")
            }
            socket.ping()
            flush()
        case .connecting, .securing, .upgrading, .open:
            if context.loop.now >= deadline { end("the node does not answer") }
        }
    }

    // MARK: Events

    func ready(_ readiness: Readiness) {
        switch state {
        case .connecting: connected()
        case .securing(let tls): secure(tls)
        case .upgrading, .open:
            if readiness.contains(.readable) || readiness.contains(.failed) || readsAfterWriting { receive() }
            flush()
        case .closed: break
        }
    }

    private func connected() {
        if let failure = Sockets.connectionFailure(socket.descriptor.rawValue) { return end(failure.description) }
        do throws(TLSError) {
            secure(try TLSConnection(context.tls, to: name, descriptor: socket.descriptor.rawValue))
        } catch {
            end(error.description)
        }
    }

    private func secure(_ tls: TLSConnection) {
        state = .securing(tls)
        do throws(TLSError) {
            switch try tls.handshake() {
            case .wantsRead: watch(.readable)
            case .wantsWrite: watch(.writable)
            case .done: upgrade(tls)
            }
        } catch {
            end(error.description)
        }
    }

    private func upgrade(_ tls: TLSConnection) {
        let key = Base64.encode(SecureRandom.bytes(count: WebSocketHandshake.keyByteCount).span)
        let handshake = ClientHandshake(
            .init(authority: name, path: LinkSettings.path, fields: [], subprotocol: LinkSettings.subprotocol),
            key: key, base64SHA1: { Base64.encode(SHA1.hash($0).span) })
        state = .upgrading(tls, handshake)
        unsent = handshake.request
        flush()
    }

    // MARK: Input

    private func receive() {
        readsAfterWriting = false
        for _ in 0..<Self.readsPerTurnCountMax {
            guard let tls else { return }
            switch context.read(from: tls) {
            case .success(.bytes(let count)): receiveInput(byteCount: count)
            case .success(.wantsRead): return
            case .success(.wantsWrite):
                readsAfterWriting = true
                return
            case .success(.closed): return end("the node closed the connection")
            case .failure(let error): return end(error.description)
            }
        }
        // Bytes that TLS has buffered do not make the socket readable.
        context.loop.schedule(after: .zero) { [weak self] in self?.ready(.readable) }
    }

    private func receiveInput(byteCount: Int) {
        // This reference ends before the next read. With two references, that read would copy the array.
        let input = context.input
        receive(input.span.extracting(first: byteCount))
    }

    private func receive(_ bytes: Span<UInt8>) {
        switch state {
        case .upgrading(let tls, var handshake):
            // Two owners of the handshake would cause a copy.
            state = .securing(tls)
            let progress = handshake.receive(bytes)
            state = .upgrading(tls, handshake)
            take(progress, tls)
        case .open(_, let socket):
            socket.receive(bytes, for: self)
            guard let closure = socket.closure, !isClosed else { return }
            flush()
            end(closure.isByPeer ? "the node closed the link" : closure.reason)
        case .connecting, .securing, .closed: break
        }
    }

    private func take(_ progress: ClientHandshake.Progress, _ tls: TLSConnection) {
        switch progress {
        case .needsMore: break
        case .accepted(let rest):
            state = .open(tls, WebSocketConnection(engine: context.engine))
            owner?.opened(self)
            if !rest.isEmpty { receive(rest.span) }
        case .refused(let status, _): end("the node answered \(status)")
        case .broken(let reason): end(reason)
        }
    }

    func received(binary: Span<UInt8>) { owner?.received(binary.copied, on: self) }

    /// Does nothing, because its arrival is sufficient.
    func received(pong: Span<UInt8>) {}

    // MARK: Output

    /// Encrypts and sends the unsent bytes; see ``TLSConnection/write(_:)``.
    private func writeUnsent(with tls: TLSConnection) throws(TLSError) -> TLSConnection.Transfer {
        let outcome = unsafe unsent.withUnsafeBytes { buffer in
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[unsentOffset...])
            return Result { () throws(TLSError) in try unsafe tls.write(bytes) }
        }
        return try outcome.get()
    }

    /// Writes what waits, and watches for writability while some of it remains.
    private func flush() {
        while let tls {
            if unsentOffset == unsent.count {
                (unsent, unsentOffset) = ([], 0)
                if case .open(_, let socket) = state {
                    socket.collectOutput(into: &unsent, limit: Self.outputByteCountMax)
                }
                if unsent.isEmpty { break }
            }
            do throws(TLSError) {
                guard case .bytes(let count) = try writeUnsent(with: tls) else { break }
                unsentOffset += count
            } catch {
                return end(error.description)
            }
        }
        watch(unsentOffset < unsent.count || readsAfterWriting ? [.readable, .writable] : .readable)
    }

    /// The TLS connection after its handshake.
    private var tls: TLSConnection? {
        switch state {
        case .upgrading(let tls, _), .open(let tls, _): tls
        case .connecting, .securing, .closed: nil
        }
    }

    private func watch(_ wanted: Readiness) {
        guard let registration, wanted != interest else { return }
        interest = wanted
        do throws(NetError) { try context.loop.modify(registration, for: wanted) } catch { end(error.description) }
    }

    // MARK: The end

    private var isClosed: Bool {
        switch state {
        case .closed: true
        case .connecting, .securing, .upgrading, .open: false
        }
    }

    private func end(_ reason: String) {
        guard !isClosed else { return }
        tls?.close()
        state = .closed
        if let registration { context.loop.deregister(registration) }
        registration = nil
        owner?.ended(self, reason: reason)
        owner = nil
    }
}
