// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore
internal import PushTLS

/// One connection of a provider, a device or an administrator; lives on one loop.
///
/// ```
/// handshaking ──TLS done──▶ detecting ──first bytes──▶ serving ──last answer flushed──▶ lingering ──▶ closed
///      (plain sockets begin at detecting; ALPN skips it)   └──peer's end──▶ answering ──────┘
/// ```
///
/// Answering: the peer sends no more, and may still read. What it has asked for goes out; a device's stream ends at once.
///
/// Lingering: our side is closed, and what the peer still sends is read and dropped until it closes too. A socket that
/// is closed with unread input is reset, and the peer might lose our last words.
final class ServerConnection: EventHandler, HTTPSessionDelegate, HandshakeTaker {
    let slot: UInt32
    let generation: UInt32
    let listener: Listener
    let source: SourceAddress
    /// The network that limits count by.
    var network: SourceAddress { source.network }
    /// Whom the peer has proved to be so far: the first proof counts.
    private(set) var principal: Principal
    /// What the provider API knows of this connection; made for the first request of a provider.
    private(set) lazy var provider = makeProvider()
    /// The listener's.
    private let endpoint: any Endpoint
    /// The teams of the exchanges whose answers are long lists; the loop counts them.
    var listings: [Int32: String] = [:]
    /// Credentials that were looked at before the peer had proved one.
    var proofCount = 0
    /// Credentials of the peer that are wrong.
    var wrongCredentialCount = 0
    /// The connection ends because of what its peer did: nothing that still comes is looked at.
    private(set) var isCondemned = false
    /// An exchange is, or was, a device's stream: most connections have none, and need not look for it.
    var carriesStream = false
    /// Nothing can become late: the loop's ticks pass it by.
    var isResting = false
    /// In the loop's list of connections to flush.
    var isDirty = false
    /// In the loop's line of connections whose handshakes go on.
    var awaitsHandshake = false
    /// The first step of the handshake is done.
    private(set) var hasBegunHandshake = false
    /// Counted among the handshakes in flight.
    var holdsHandshakeSlot = false
    /// Its network begins too many handshakes, so that others go first.
    var isOverHandshakeRate = false
    let acceptedNanoseconds: UInt64
    /// The last step of a stranger towards a credential: accepted, handshake step, whole request; monotonic nanoseconds.
    var progressNanoseconds: UInt64
    /// The part of the memory budget that this connection has reported.
    var memory = ConnectionMemory()

    private enum Phase { case handshaking, detecting, serving, answering, lingering, closed }

    /// Until it has removed the connection.
    let loop: ServerLoop
    private let socket: FileDescriptor
    private var transport: Transport
    private(set) var session: (any HTTPSession)?
    /// The peer was told that it may open all streams.
    private var allowsAllStreams = false
    private var phase: Phase
    private var registration: Registration?
    private var interest: Readiness = .readable
    /// First bytes, until they tell the protocol.
    private(set) var early: [UInt8] = []
    /// Output that the socket did not take yet, from `pendingOffset`.
    private(set) var pending: [UInt8] = []
    private var pendingOffset = 0
    /// TLS must write before it can read on.
    private var inputWaitsForOutput = false
    private var deadlines: ConnectionDeadlines
    var drain: ConnectionDrain = .none
    /// A request came since the drain began.
    private var isBusy = false
    /// What the last GOAWAY says.
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
        do throws(ServerError) {
            if listener.kind != .admin {
                guard let certificate = loop.certificate else { return close("no certificate") }
                do throws(TLSError) {
                    transport = .tls(try TLSConnection(certificate, descriptor: socket.rawValue))
                } catch { throw ServerError.tls(error) }
                phase = .handshaking
            }
            do throws(NetError) {
                registration = try loop.events.register(socket.rawValue, for: interest, handler: self)
            } catch { throw ServerError.system(error) }
        } catch {
            close(error.description)
        }
    }

    /// Whether the process at the other end of a UNIX socket is root or of the server's own user.
    var isAdministrator: Bool { peerUserID.map { $0 == 0 || $0 == ProcessFacts.userID } ?? false }

    /// The user of the process at the other end of a UNIX socket; nil on the network.
    var peerUserID: UInt32? {
        listener.kind == .admin ? (try? Sockets.peerCredentials(socket.rawValue))?.user : nil
    }

    /// Where answers to an exchange of this connection go.
    func address(of exchange: HTTPExchange) -> ReplyAddress {
        ReplyAddress(loop: loop.index, slot: slot, generation: generation, exchange: exchange.id)
    }

    /// An exchange that is still open.
    func exchange(_ id: Int32) -> HTTPExchange? { session?.exchange(id) }

    /// The device's stream that this connection has become.
    var webSocket: DeviceSocket? { session as? DeviceSocket }

    /// Whether the open request may be answered with another protocol.
    var upgradeReadiness: UpgradeReadiness { (session as? HTTP1Session)?.upgradeReadiness ?? .unavailable }

    /// Answers the open request with another protocol, which the connection speaks from now on.
    ///
    /// Does nothing unless `upgradeReadiness` is `ready`.
    ///
    /// - Parameter next: Gets what is to go out first, and makes the session that takes over.
    func upgrade(_ next: ([UInt8]) -> any HTTPSession) {
        guard let http = session as? HTTP1Session, let (output, input) = http.switchProtocols() else { return }
        session = next(output)
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
        // A handshake or a read may have waited for room to write.
        let goesOnReading = readiness.contains(.writable) && (phase == .handshaking || inputWaitsForOutput)
        guard goesOnReading || readiness.contains(.readable) || readiness.contains(.failed) else { return }
        inputWaitsForOutput = false
        if phase == .handshaking { loop.queueHandshake(self) } else { takeInput() }
    }

    /// Goes on with the handshake, now that it is this connection's turn.
    func continueHandshake() {
        guard phase == .handshaking else { return }
        if !hasBegunHandshake { deadlines.handshakeBegins(now: loop.events.monotonicNanoseconds) }
        hasBegunHandshake = true
        loop.strangerProgressed(self)
        do throws(ServerError) { try shakeHands() } catch { return close(error.description) }
        if phase != .handshaking { takeInput() }
    }

    func pauseHandshake() {
        if phase == .handshaking { watch([]) }
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

    private func shakeHands() throws(ServerError) {
        guard case .tls(let connection) = transport else { return }
        do throws(TLSError) {
            switch try connection.handshake() {
            case .wantsRead: return watch(.readable)
            case .wantsWrite: return watch(.writable)
            case .done: break
            }
        } catch {
            throw .tls(error)
        }
        loop.handshakeEnded(self)
        watch(.readable)
        guard phase == .handshaking else { return }
        switch connection.application {
        case .http2: serve(.http2)
        case .http1: serve(.http1)
        case .unknown: phase = .detecting
        }
    }

    private func readInput() throws(ServerError) {
        for _ in 0..<Limits.readsPerTurnCountMax {
            guard pending.count - pendingOffset < Limits.outputByteCountHigh, !memory.isHeldBack else { return }
            switch try unsafe transport.read(socket.rawValue, into: loop.readBuffer) {
            case .mustWait: return
            case .mustWrite:
                inputWaitsForOutput = true
                watch(.writable)
                return loop.markDirty(self)
            case .closed: return endInput()
            case .bytes(let count):
                let bytes = unsafe Span<UInt8>(
                    _unsafeBytes: UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
                take(bytes)
                // Whatever else the socket has makes it ready again, also the end: another read would mostly find nothing.
                let isAll = count < Limits.readBufferByteCount && !transport.hasBufferedInput
                guard !isAll, phase != .closed else { return }
            }
        }
        readBufferedInputSoon()
    }

    /// The peer sends no more: what it has asked for is answered before the connection closes.
    ///
    /// - SeeAlso: RFC 8446, section 6.1
    private func endInput() {
        guard phase == .serving, let session, webSocket == nil else { return close(nil) }
        let isAnyLeft = endUnanswerable(session)
        guard isAnyLeft || session.hasOutput || pendingOffset < pending.count else { return close(nil) }
        phase = .answering
        // The end of input would be reported in each turn.
        watch([])
        loop.markDirty(self)
    }

    /// Ends devices' streams, which nobody reads, and requests that stay incomplete; says whether others are open.
    private func endUnanswerable(_ session: any HTTPSession) -> Bool {
        var isAnyLeft = false
        for exchange in session.openExchanges {
            let isStream = carriesStream && loop.streams.end(address(of: exchange))
            if !isStream, exchange.isComplete || exchange.isAnswered {
                isAnyLeft = true
            } else {
                exchange.abandon()
            }
        }
        return isAnyLeft
    }

    /// The socket's readiness may not come again for what TLS has read already.
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
        case .http2: session = HTTP2Session(limits: loop.httpLimits, memory: loop.http2Memory, delegate: self)
        case .http1, .unknown: session = HTTP1Session(limits: loop.httpLimits, delegate: self)
        }
        setRetainedByteCountMax()
        if !principal.isStranger { session?.advertiseStreams(Limits.concurrentStreamCountMax) }
        phase = .serving
        loop.markDirty(self)
    }

    /// Notes that the peer has proved who it is, and allows it all streams.
    ///
    /// - Parameter principal: A device or a provider. A proof after the first one changes nothing.
    func authenticated(as principal: Principal) {
        if self.principal.isStranger {
            self.principal = principal
            // What it holds counts for another account from the next report on.
            memory.release(to: loop.context.memory)
            loop.authenticated(self)
            setRetainedByteCountMax()
        }
        guard !allowsAllStreams else { return }
        allowsAllStreams = true
        session?.advertiseStreams(Limits.concurrentStreamCountMax)
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
        reportMemory(session)
        // Most that comes on a WebSocket is acknowledgements, which nothing answers.
        if drain == .none, let webSocket, webSocket.isQuiet { return }
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
        exchange.context = nil
        loop.endListing(exchange, on: self)
        if carriesStream { loop.streams.exchangeEnded(address(of: exchange)) }
    }

    // MARK: Output

    /// Has what the session has put out at the end of this turn.
    func needsFlush() { loop.markDirty(self) }

    /// Puts out what the session has, as far as the socket takes it.
    func flush() {
        guard isServing, let session else { return }
        do throws(ServerError) {
            while try flushPending(), session.hasOutput {
                loop.output.removeAll(keepingCapacity: true)
                session.collectOutput(into: &loop.output, limit: Limits.outputByteCountHigh)
                guard !loop.output.isEmpty else { break }
                let written = try write(loop.output, from: 0)
                if written < loop.output.count { keepPending(from: written) }
            }
        } catch {
            return close(error.description)
        }
        settle(session)
    }

    /// True when nothing is left over from earlier.
    private func flushPending() throws(ServerError) -> Bool {
        guard pendingOffset < pending.count else { return true }
        pendingOffset += try write(pending, from: pendingOffset)
        guard pendingOffset == pending.count else { return false }
        pending = []
        pendingOffset = 0
        return true
    }

    private func keepPending(from offset: Int) {
        pending = Array(loop.output[offset...])
        pendingOffset = 0
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

    /// After a flush: closes when all is said, else watches for what is needed.
    private func settle(_ session: any HTTPSession) {
        let isFlushed = pendingOffset == pending.count && !inputWaitsForOutput
        deadlines.outputWaits(!isFlushed, now: loop.events.monotonicNanoseconds)
        if isFlushed {
            let isAnswered = phase == .answering && !endUnanswerable(session)
            if session.isFinished || drain == .closing || isAnswered { return linger() }
            if drain == .waiting, session.openExchangeCount == 0 { return finishShutdown(session, reason: drainReason) }
        }
        reportMemory(session)
        if isFlushed, !interest.contains(.readable) { readBufferedInputSoon() }
        let isFull = pending.count - pendingOffset >= Limits.outputByteCountHigh
        let input: Readiness = phase == .answering || memory.isHeldBack ? [] : .readable
        watch(isFlushed ? input : isFull || inputWaitsForOutput ? .writable : input.union(.writable))
    }

    private func watch(_ wanted: Readiness) {
        guard wanted != interest, let registration else { return }
        interest = wanted
        do throws(NetError) { try loop.events.modify(registration, for: wanted) } catch { close(error.description) }
    }

    // MARK: The end

    /// Lets open exchanges finish, then says goodbye; a busy connection is told after a while.
    func beginShutdown() {
        guard phase != .lingering else { return }
        guard isServing, let session else { return close(nil) }
        guard drain == .none else { return }
        drain = .waiting
        guard session.openExchangeCount > 0 else { return finishShutdown(session) }
        announceShutdownSoon(session)
    }

    /// Ends the connection when its open requests are answered, or soon after: its peer breaks a limit.
    func endBehindAnswers(because reason: RejectionReason) {
        guard drain == .none, isServing else { return }
        isCondemned = true
        (drain, drainReason) = (.waiting, reason)
        loop.markDirty(self)
        // New requests could keep it open; the answers to earlier ones are out by then.
        loop.events.schedule(after: Limits.drainPatience) { [weak self] in
            guard let self, drain == .waiting, isServing, let session else { return }
            finishShutdown(session, reason: reason)
        }
    }

    /// Asks a peer that goes on sending to stop; many take GOAWAY for the end, so others are not told before their open
    /// requests are answered.
    private func announceShutdownSoon(_ session: any HTTPSession) {
        loop.events.schedule(after: Limits.drainPatience) { [weak self, weak session] in
            guard let self, let session, self.drain == .waiting else { return }
            guard self.isBusy else { return self.announceShutdownSoon(session) }
            session.announceShutdown(debugData: ProviderAnswer.body(.shutdown))
            self.loop.markDirty(self)
        }
    }

    func finishShutdown(_ session: any HTTPSession, reason: RejectionReason = .shutdown) {
        drain = .closing
        session.finishShutdown(debugData: ProviderAnswer.body(reason))
        loop.markDirty(self)
    }

    /// Once a second: answers and closes what takes too long.
    func tick() {
        // It waits for this loop, not the loop for it.
        guard !awaitsHandshake else { return }
        if holdsHandshakeSlot { loop.freeStalledSlot(of: self) }
        if let session, isServing {
            answerLate(session)
            if memory.isHeldBack { retryHeldBack(session) }
        }
        guard phase != .closed else { return }
        let openCount = session?.openExchangeCount ?? 0
        switch deadlines.verdict(
            now: loop.events.monotonicNanoseconds, isServing: isServing || phase == .lingering,
            openExchangeCount: openCount,
            strangerPatience: principal.isStranger ? loop.context.configuration.strangerPatience : nil)
        {
        case .fine: if isQuiet { loop.rest(self) }
        case .idle:
            guard let session, drain == .none else { return close("idle") }
            finishShutdown(session, reason: .idleTimeout)
        case .unproven: endUnproven()
        case .tooSlow(let what): close(what)
        }
    }

    var isServing: Bool { phase == .serving || phase == .answering }

    /// Only streams are open, all that was written was taken, and nothing of a message has come: an idle device.
    private var isQuiet: Bool {
        guard phase == .serving, drain == .none, !isDirty, !memory.isHeldBack, pendingOffset == pending.count,
            let session
        else { return false }
        return session.isQuiet && !deadlines.isRunning
    }

    /// Answers each request that has waited too long, whether for its own end or for the store.
    ///
    /// A connection on which nothing else happens ends with that.
    private func answerLate(_ session: any HTTPSession) {
        session.nowNanoseconds = loop.events.monotonicNanoseconds
        session.tick()
        if session.hasOutput { loop.markDirty(self) }
        for exchange in session.openExchanges {
            let age = session.age(since: exchange.isAnswered ? exchange.tookNanoseconds : exchange.beganNanoseconds)
            if exchange.waitsForPeer, !exchange.isStreaming { exchange.forgetRequest() }
            if exchange.waitsForPeer, age > Limits.outputPatience {
                // The peer keeps its window shut; what a device does not get stays pending.
                exchange.abandon()
                loop.markDirty(self)
            }
            guard !exchange.isAnswered, age > (exchange.isComplete ? Limits.answerPatience : Limits.requestPatience)
            else { continue }
            exchange.context = nil
            endpoint.giveUp(exchange)
            deadlines.requestEnded()
            loop.markDirty(self)
            // The goodbye comes behind the answer: clients hear nothing more once they have read it.
            guard !exchange.isComplete, drain == .none, session.openExchangeCount == 1 else { continue }
            (drain, drainReason) = (.waiting, .idleTimeout)
        }
    }

    /// Closes our side; the connection is gone when the peer closes its own, or after a short while.
    private func linger() {
        phase = .lingering
        session?.close()
        session = nil
        memory.release(to: loop.context.memory)
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

    /// Closes at once; open exchanges end unanswered.
    func close(_ reason: String?) {
        guard phase != .closed else { return }
        let isOpen = phase != .lingering
        phase = .closed
        if let reason { loop.context.log.closed(self, reason: reason) }
        session?.close()
        session = nil
        if let registration { loop.events.deregister(registration) }
        // A later change of interest must find nothing to change.
        registration = nil
        if isOpen { transport.close() }
        memory.release(to: loop.context.memory)
        loop.handshakeEnded(self)
        loop.remove(self)
    }
}

/// How far a connection's end has come.
enum ConnectionDrain { case none, waiting, closing }
