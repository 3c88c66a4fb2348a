// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore
internal import PushTLS

/// One connection of a provider, a device or an administrator, on one loop.
///
/// ```
/// handshaking ──TLS done──▶ detecting ──first bytes──▶ serving ──last answer flushed──▶ lingering ──▶ closed
///      (plain sockets begin at detecting; ALPN skips it)   └──peer's end──▶ answering ──────┘
/// ```
///
/// Answering: the peer sends no more, but may still read. Pending answers are sent; a device's stream ends immediately.
///
/// Lingering: our side is closed, and further input is read and discarded until the peer closes too. Closing a socket
/// with unread input resets the connection, and the peer might lose the last answers.
final class ServerConnection: EventHandler, HTTPSessionDelegate, HandshakeTaker {
    let slot: UInt32
    let generation: UInt32
    let listener: Listener
    let source: SourceAddress
    /// The source network, by which limits count.
    var network: SourceAddress { source.network }
    /// The identity that the peer has proven so far; only the first proof counts.
    private(set) var principal: Principal
    /// The provider API's state for this connection, created for the first request of a provider.
    private(set) lazy var provider = makeProvider()
    private let endpoint: any Endpoint
    /// The teams of the exchanges whose answers are long lists, by exchange ID; the loop counts them.
    var listings: [Int32: String] = [:]
    /// The number of credentials that were checked before the peer had proven one.
    var proofCount = 0
    /// The number of wrong credentials that the peer sent.
    var wrongCredentialCount = 0
    /// Whether the connection is closing because of the peer's behavior, so that further requests are turned away.
    private(set) var isCondemned = false
    /// Whether an exchange is, or was, a device's stream; most connections have none and skip the search for it.
    var carriesStream = false
    /// Whether no deadline is running, so that the loop's ticks skip the connection.
    var isResting = false
    /// Whether the connection is in the loop's list of connections to flush.
    var isDirty = false
    /// Whether the connection is in the loop's handshake queue.
    var awaitsHandshake = false
    /// The TLS handshake while it is under way.
    private(set) var handshake: ServerHandshake?
    /// Whether the first step of the handshake is done.
    var hasBegunHandshake: Bool { handshake?.hasBegun ?? true }
    /// Whether the connection counts among the handshakes in flight.
    var holdsHandshakeSlot = false
    /// Whether the network starts too many handshakes, so that others go first.
    var isOverHandshakeRate = false
    let acceptedNanoseconds: UInt64
    /// The time of a stranger's last step towards a credential, in monotonic nanoseconds.
    ///
    /// Steps are being accepted, a handshake step and a complete request.
    var progressNanoseconds: UInt64
    /// The part of the memory budget that this connection has reported.
    var memory = ConnectionMemory()

    private enum Phase { case handshaking, detecting, serving, answering, lingering, closed }

    /// The loop; the reference cycle ends when the loop removes the connection.
    let loop: ServerLoop
    private let socket: FileDescriptor
    private(set) var transport: Transport
    private(set) var session: (any ConnectionSession)?
    /// The session while it is HTTP; nil for a device's WebSocket.
    private(set) var http: (any HTTPSession)?
    /// The device's stream that replaced the HTTP session.
    private(set) var webSocket: DeviceSocket?
    /// Whether the peer was told that it may open all streams.
    private var allowsAllStreams = false
    private var phase: Phase
    private var registration: Registration?
    private var interest: Readiness = .readable
    /// The first bytes, kept until they identify the protocol.
    private(set) var early: [UInt8] = []
    private(set) var pending = PendingOutput()
    /// Whether TLS must write before it can continue reading.
    private var inputWaitsForOutput = false
    var deadlines: ConnectionDeadlines
    var drain: ConnectionDrain = .none
    /// Whether a request arrived since the drain began.
    private var isBusy = false
    /// The reason that the last GOAWAY states.
    var drainReason = RejectionReason.shutdown

    init(socket: consuming FileDescriptor, loop: ServerLoop, slot: UInt32, generation: UInt32, listener: Listener) {
        self.loop = loop
        self.slot = slot
        self.generation = generation
        self.listener = listener
        let source = listener.kind == .admin ? .unknown : SourceAddress(peerOf: socket.rawValue)
        self.source = source
        principal = listener.kind == .admin ? .administrator : .stranger(source.network)
        acceptedNanoseconds = loop.events.monotonicNanoseconds
        progressNanoseconds = acceptedNanoseconds
        self.socket = socket
        endpoint = listener.endpoint
        transport = .plain
        phase = .detecting
        deadlines = ConnectionDeadlines(now: loop.events.monotonicNanoseconds)
    }

    /// Watches the socket and begins the handshake.
    func start() {
        if listener.kind != .admin {
            guard let certificate = loop.certificate else { return close("no certificate") }
            handshake = ServerHandshake(certificate)
            phase = .handshaking
        }
        do throws(NetError) {
            registration = try loop.events.register(socket.rawValue, for: interest, handler: self)
        } catch {
            close(ServerError.system(error).description)
        }
    }

    /// Whether the process at the other end of a UNIX socket runs as root or as the server's own user.
    var isAdministrator: Bool { peerUserID.map { $0 == 0 || $0 == ProcessFacts.userID } ?? false }

    /// The user of the process at the other end of a UNIX socket; nil on the network.
    var peerUserID: UInt32? {
        listener.kind == .admin ? (try? Sockets.peerCredentials(socket.rawValue))?.user : nil
    }

    /// Returns the address for the store's answers to an exchange of this connection.
    func address(of exchange: HTTPExchange) -> ReplyAddress {
        ReplyAddress(loop: loop.index, slot: slot, generation: generation, exchange: exchange.id)
    }

    /// Returns an exchange if it is still open.
    func exchange(_ id: Int32) -> HTTPExchange? { http?.exchange(id) }

    /// Whether the open request may be answered with another protocol.
    var upgradeReadiness: UpgradeReadiness { http?.upgradeReadiness ?? .unavailable }

    /// Switches the connection to another protocol in answer to the open request.
    ///
    /// Does nothing unless `upgradeReadiness` is `ready`.
    ///
    /// - Parameter next: Creates the session that takes over. Its argument is the output to send first.
    func upgrade(_ next: ([UInt8]) -> DeviceSocket) {
        guard let (output, input) = http?.switchProtocols() else { return }
        let socket = next(output)
        (http, webSocket, session) = (nil, socket, socket)
        if !input.isEmpty { receive(input.span) }
        loop.markDirty(self)
    }

    private func makeProvider() -> ProviderConnection {
        guard case .network(let role) = listener.kind, case .tls(let connection) = transport else {
            preconditionFailure("a provider's request came in without TLS")
        }
        let named = loop.context.configuration.environment(ofServerName: connection.serverName)
        return ProviderConnection(
            environment: role.environment ?? named, certificate: connection.clientCertificate)
    }

    // MARK: Input

    func ready(_ readiness: Readiness) {
        guard phase != .closed else { return }
        loop.wake(self)
        if readiness.contains(.writable) { loop.markDirty(self) }
        if phase == .answering {
            if readiness.contains(.failed) { close("the peer is gone") }
            return
        }
        // A handshake or a read may have waited until the socket was writable.
        let goesOnReading = readiness.contains(.writable) && (phase == .handshaking || inputWaitsForOutput)
        guard goesOnReading || readiness.contains(.readable) || readiness.contains(.failed) else { return }
        inputWaitsForOutput = false
        if let handshake { prepare(handshake, readiness) } else { takeInput() }
    }

    /// Queues the next step of the handshake, unless a part of a ClientHello is missing.
    private func prepare(_ handshake: ServerHandshake, _ readiness: Readiness) {
        guard !readiness.contains(.writable) else { return loop.queueHandshake(self) }
        do throws(ServerError) {
            let isReady = try unsafe handshake.hasInput(socket.rawValue, buffer: loop.readBuffer)
            if isReady { loop.queueHandshake(self) }
        } catch {
            close(error.description)
        }
    }

    /// Continues the handshake at this connection's turn.
    func continueHandshake() {
        guard let handshake else { return }
        if !handshake.hasBegun { deadlines.handshakeBegins(now: loop.events.monotonicNanoseconds) }
        loop.strangerProgressed(self)
        do throws(ServerError) { try shakeHands(handshake) } catch { return close(error.description) }
        if phase == .handshaking { reportMemory() } else { takeInput() }
    }

    func pauseHandshake() {
        if handshake != nil { watch([]) }
    }

    private func takeInput() {
        do throws(ServerError) {
            switch phase {
            case .detecting:
                try readInput()
                if phase == .detecting, !inputWaitsForOutput { watch(.readable) }
            case .serving: try readInput()
            case .lingering: try dropInput()
            case .handshaking, .answering, .closed: break
            }
        } catch {
            close(error.description)
        }
    }

    private func shakeHands(_ handshake: ServerHandshake) throws(ServerError) {
        switch try handshake.step(socket.rawValue) {
        case .wantsRead: return watch(.readable)
        case .wantsWrite: return watch(.writable)
        case .done: break
        }
        loop.handshakeEnded(self)
        watch(.readable)
        guard phase == .handshaking, let connection = handshake.connection else { return }
        (self.handshake, transport) = (nil, .tls(connection))
        // The handshake's share must not keep the first request waiting.
        reportMemory()
        switch connection.application {
        case .http2: serve(.http2)
        case .http1: serve(.http1)
        case .unknown: phase = .detecting
        }
    }

    private func readInput() throws(ServerError) {
        for _ in 0..<Limits.readsPerTurnCountMax {
            guard pending.count < Limits.outputByteCountHigh, !memory.isHeldBack else { return }
            switch try unsafe transport.read(socket.rawValue, into: loop.readBuffer) {
            case .mustWait:
                if principal.isStranger { reportMemory() }
                return
            case .mustWrite:
                inputWaitsForOutput = true
                watch(.writable)
                return loop.markDirty(self)
            case .closed: return endInput()
            case .bytes(let count):
                let bytes = unsafe Span<UInt8>(
                    _unsafeBytes: UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
                take(bytes)
                // Further input, including its end, makes the socket ready again. Another read would usually find
                // nothing.
                let isAll = count < Limits.readBufferByteCount && !transport.hasBufferedInput
                guard !isAll, phase != .closed else { return }
            }
        }
        readBufferedInputSoon()
    }

    /// Handles the end of input: requests that arrived are answered before the connection closes.
    ///
    /// - SeeAlso: RFC 8446, section 6.1
    private func endInput() {
        guard phase == .serving, let http else { return close(nil) }
        let isAnyLeft = endUnanswerable(http)
        guard isAnyLeft || http.hasOutput || !pending.isEmpty else { return close(nil) }
        phase = .answering
        // The end of input would be reported in each turn.
        watch([])
        loop.markDirty(self)
    }

    /// Ends device streams, which have no reader, and incomplete requests; returns whether other exchanges are open.
    private func endUnanswerable(_ http: any HTTPSession) -> Bool {
        var isAnyLeft = false
        for exchange in http.openExchanges {
            let isStream = carriesStream && loop.streams.end(address(of: exchange))
            if !isStream, exchange.isComplete || exchange.isAnswered {
                isAnyLeft = true
            } else {
                exchange.abandon()
            }
        }
        return isAnyLeft
    }

    /// Schedules a read of input that TLS has buffered, because the socket may not become ready for it again.
    private func readBufferedInputSoon() {
        guard transport.hasBufferedInput else { return }
        loop.events.schedule(after: .zero) { self.ready(.readable) }
    }

    private func take(_ bytes: Span<UInt8>) {
        guard phase == .detecting else { return receive(bytes) }
        for index in bytes.indices { early.append(bytes[index]) }
        let first = early
        switch ProtocolDetector.look(at: first.span) {
        case .needsMore: return
        case .http2: serve(.http2)
        case .http1: serve(.http1)
        }
        early = []
        receive(first.span)
    }

    private func serve(_ version: TLSConnection.Application) {
        switch version {
        case .http2: http = HTTP2Session(limits: loop.httpLimits, memory: loop.http2Memory, delegate: self)
        case .http1, .unknown: http = HTTP1Session(limits: loop.httpLimits, delegate: self)
        }
        session = http
        setRetainedByteCountMax()
        if !principal.isStranger { http?.advertiseStreams(Limits.concurrentStreamCountMax) }
        phase = .serving
        loop.markDirty(self)
    }

    /// Records who the peer has proven to be, and allows it all streams.
    ///
    /// - Parameter principal: A device or a provider. A proof after the first one changes nothing.
    func authenticated(as principal: Principal) {
        if self.principal.isStranger {
            self.principal = principal
            // From the next report on, its memory counts for the new account.
            memory.release(to: loop.memory)
            loop.authenticated(self)
            setRetainedByteCountMax()
        }
        guard !allowsAllStreams else { return }
        allowsAllStreams = true
        http?.advertiseStreams(Limits.concurrentStreamCountMax)
    }

    private func receive(_ bytes: Span<UInt8>) {
        guard let session else { return }
        let now = loop.events.monotonicNanoseconds
        session.nowNanoseconds = now
        let goesOn = session.receive(bytes)
        deadlines.received((session.completedMessageCount, session.awaitsRest), now: now)
        if !goesOn {
            loop.context.log.failedSession(self, reason: session.failure ?? "closed")
            drain = .closing
        }
        reportMemory()
        // Most input on a WebSocket consists of acknowledgements, which need no answer.
        if drain == .none, webSocket != nil, session.isQuiet { return }
        loop.markDirty(self)
    }

    // MARK: Requests

    func headTooLarge(_ exchange: HTTPExchange) {
        if listener.kind != .admin { ProviderAnswer.addOwnID(to: exchange, loop.random) }
        exchange.respond(status: 431)
    }

    func headArrived(_ exchange: HTTPExchange) {
        if drain == .waiting { isBusy = true }
        deadlines.requestBegan(now: loop.events.monotonicNanoseconds)
        guard !isCondemned else { return }
        exchange.bodyByteCountMax = endpoint.headArrived(exchange, on: self)
        // A client may send the heads of many requests before the first body.
        if principal.isStranger, session?.openExchangeCount == Limits.streamCountBeforeEarlyAuthentication {
            endpoint.recognize(exchange, on: self)
        }
    }

    func requestArrived(_ exchange: HTTPExchange) {
        deadlines.requestEnded()
        loop.strangerProgressed(self)
        guard !exchange.isAnswered else { return }
        if isCondemned {
            exchange.context = nil
            return endpoint.turnAway(exchange)
        }
        endpoint.answer(exchange, on: self)
    }

    func exchangeEnded(_ exchange: HTTPExchange) {
        // A credential that the store has not answered yet counts as wrong, so that a reset makes no guess free.
        if principal.isStranger, exchange.context is StoreContinuation { _ = loop.countWrongCredential(on: self) }
        exchange.context = nil
        loop.endListing(exchange, on: self)
        if carriesStream { loop.streams.exchangeEnded(address(of: exchange)) }
    }

    // MARK: Output

    /// Schedules a flush of the session's output at the end of this turn.
    func needsFlush() { loop.markDirty(self) }

    /// Writes the session's output as far as the socket accepts it.
    func flush() {
        guard isServing, let session else { return }
        do throws(ServerError) {
            while try flushPending(), session.hasOutput {
                loop.output.removeAll(keepingCapacity: true)
                session.collectOutput(into: &loop.output, limit: Limits.outputByteCountHigh)
                guard !loop.output.isEmpty else { break }
                let written = try write(loop.output, from: 0)
                if written < loop.output.count { pending.keep(loop.output[written...]) }
            }
        } catch {
            return close(error.description)
        }
        settle(session)
    }

    /// Writes output left over from earlier; returns true when none remains.
    private func flushPending() throws(ServerError) -> Bool {
        guard !pending.isEmpty else { return true }
        pending.wrote(try write(pending.bytes, from: pending.offset))
        return pending.isEmpty
    }

    private func write(_ bytes: [UInt8], from start: Int) throws(ServerError) -> Int {
        var offset = start
        while offset < bytes.count {
            switch try transport.write(socket.rawValue, bytes, from: offset) {
            case .bytes(let count):
                offset += count
                deadlines.wrote(now: loop.events.monotonicNanoseconds)
            case .mustWait, .mustWrite: return offset - start
            case .closed: throw .tls(.peer("closed while output was waiting"))
            }
        }
        return offset - start
    }

    /// Closes the connection after a flush if everything is sent, else watches for the next events.
    private func settle(_ session: any ConnectionSession) {
        let isFlushed = pending.isEmpty && !inputWaitsForOutput
        deadlines.outputWaits(!isFlushed, now: loop.events.monotonicNanoseconds)
        if isFlushed {
            let isAnswered = phase == .answering && http.map { endUnanswerable($0) } != true
            if session.isFinished || drain == .closing || isAnswered { return linger() }
            if drain == .waiting, session.openExchangeCount == 0 { return finishShutdown(session, reason: drainReason) }
        }
        reportMemory()
        if isFlushed, !interest.contains(.readable) { readBufferedInputSoon() }
        let isFull = pending.count >= Limits.outputByteCountHigh
        let input: Readiness = phase == .answering || memory.isHeldBack ? [] : .readable
        watch(isFlushed ? input : isFull || inputWaitsForOutput ? .writable : input.union(.writable))
    }

    private func watch(_ wanted: Readiness) {
        guard wanted != interest, let registration else { return }
        interest = wanted
        do throws(NetError) { try loop.events.modify(registration, for: wanted) } catch { close(error.description) }
    }

    // MARK: The end

    /// Lets open exchanges finish, then closes the connection; a busy peer is told after a while.
    func beginShutdown() {
        guard phase != .lingering else { return }
        guard isServing, let session else { return close(nil) }
        guard drain == .none else { return }
        drain = .waiting
        guard session.openExchangeCount > 0 else { return finishShutdown(session) }
        if let http { announceShutdownSoon(http) }
    }

    /// Closes the connection after the answers to its open requests, or soon, because its peer exceeded a limit.
    func endBehindAnswers(because reason: RejectionReason) {
        guard drain == .none, isServing else { return }
        isCondemned = true
        (drain, drainReason) = (.waiting, reason)
        loop.markDirty(self)
        // New requests could keep the connection open. The answers to earlier ones have been sent by then.
        loop.events.schedule(after: Limits.drainPatience) { [weak self] in
            guard let self, drain == .waiting, isServing, let session else { return }
            finishShutdown(session, reason: reason)
        }
    }

    /// Asks a peer that keeps sending to stop.
    ///
    /// Many clients treat GOAWAY as the end, so other peers are told only after their open requests are answered.
    ///
    /// - Parameter session: The session to announce the shutdown on.
    private func announceShutdownSoon(_ session: any HTTPSession) {
        loop.events.schedule(after: Limits.drainPatience) { [weak self, weak session] in
            guard let self, let session, self.drain == .waiting else { return }
            guard self.isBusy else { return self.announceShutdownSoon(session) }
            session.announceShutdown(debugData: ProviderAnswer.body(.shutdown))
            self.loop.markDirty(self)
        }
    }

    func finishShutdown(_ session: any ConnectionSession, reason: RejectionReason = .shutdown) {
        drain = .closing
        session.finishShutdown(debugData: ProviderAnswer.body(reason))
        loop.markDirty(self)
    }

    var isServing: Bool { phase == .serving || phase == .answering }

    /// Whether our side is closed.
    var isEnding: Bool { phase == .lingering || isClosed }

    var isClosed: Bool { phase == .closed }

    /// Whether only streams are open, all output was accepted, and no message is incomplete, as with an idle device.
    var isQuiet: Bool {
        guard phase == .serving, drain == .none, !isDirty, !memory.isHeldBack, pending.isEmpty,
            let session
        else { return false }
        return session.isQuiet && !deadlines.isRunning
    }

    /// Closes our side, and waits a short time for the peer to close its own.
    private func linger() {
        phase = .lingering
        session?.close()
        (session, http, webSocket) = (nil, nil, nil)
        memory.release(to: loop.memory)
        deadlines.lingers(now: loop.events.monotonicNanoseconds)
        transport.close()
        do throws(NetError) { try Sockets.closeOutput(socket.rawValue) } catch { return close(nil) }
        watch(.readable)
    }

    private func dropInput() throws(ServerError) {
        let count = try ServerError.wrapping { () throws(NetError) in
            try unsafe Sockets.read(socket.rawValue, into: loop.readBuffer)
        }
        if count == 0 { close(nil) }
    }

    /// Closes the connection immediately; open exchanges end unanswered.
    func close(_ reason: String?) {
        guard phase != .closed else { return }
        let isOpen = phase != .lingering
        phase = .closed
        if let reason { loop.context.log.closed(self, reason: reason) }
        session?.close()
        (session, http, webSocket) = (nil, nil, nil)
        if let registration { loop.events.deregister(registration) }
        // A later change of interest must not find a registration.
        registration = nil
        if isOpen { transport.close() }
        handshake = nil
        memory.release(to: loop.memory)
        loop.handshakeEnded(self)
        loop.remove(self)
    }
}

/// The progress of a connection's shutdown.
enum ConnectionDrain { case none, waiting, closing }
