// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushHTTP
package import PushNet
package import PushStore
package import PushTLS

/// One connection of a provider, a device or an administrator, on one loop; its life is `ConnectionStateMachine`.
package final class ServerConnection: EventHandler, HTTPSessionDelegate {
    let slot: UInt32
    let generation: UInt32
    let listener: Listener
    package let source: SourceAddress
    /// The source network, by which limits count.
    package var network: SourceAddress { source.network }
    /// The identity that the peer has proven so far; only the first proof counts.
    package private(set) var principal: Principal { didSet { isStranger = principal.isStranger } }
    /// Whether the peer has not proven a credential; each request reads it, and a copy of `principal` costs more.
    package private(set) var isStranger: Bool
    let endpoint: any Endpoint
    /// The endpoint's own state for this connection, from `Endpoint.connectionOpened`.
    package private(set) var context: AnyObject?
    /// Whether no deadline is running, so that the loop's ticks skip the connection.
    var isExcludedFromTicks = false
    /// Whether the connection is in the loop's list of connections to flush.
    var isDirty = false
    /// The TLS handshake while it is under way.
    var handshake: ServerHandshake?
    /// The time of the first handshake step; before it, the time of acceptance.
    package var beganAt: MonotonicTime { deadlines.begin }
    /// The time of a stranger's last step towards a credential.
    ///
    /// Steps are being accepted, a handshake step and a complete request.
    var progressedAt: MonotonicTime
    /// The part of the memory budget that this connection has reported.
    var memory = ConnectionMemory()

    /// The loop; the reference cycle ends when the loop removes the connection.
    package let loop: ServerLoop
    var socket: ConnectionSocket
    private(set) var session: (any ConnectionSession)?
    /// The session while it is HTTP; nil for another protocol.
    private(set) var http: (any HTTPSession)?
    /// Whether the peer was told that it may open all streams.
    private var allowsAllStreams = false
    var state: ConnectionStateMachine
    private(set) var early = EarlyInput()
    var deadlines: ConnectionDeadlines

    init(
        socket: consuming FileDescriptor, loop: ServerLoop, slot: UInt32, generation: UInt32, listener: Listener,
        source given: SourceAddress?
    ) {
        self.loop = loop
        self.slot = slot
        self.generation = generation
        self.listener = listener
        let source = listener.kind == .admin ? .unknown : given ?? SourceAddress(peerOf: socket.rawValue)
        self.source = source
        principal = listener.principal(of: source)
        isStranger = principal.isStranger
        progressedAt = loop.events.now
        self.socket = ConnectionSocket(socket)
        endpoint = listener.endpoint
        state = ConnectionStateMachine(isEncrypted: listener.kind.isNetwork)
        deadlines = ConnectionDeadlines(now: progressedAt)
        if state.isHandshaking { handshake = loop.certificate.map(ServerHandshake.init) }
    }

    /// Watches the socket; on a network port, the handshake begins when the ClientHello is complete.
    func start() {
        if state.isHandshaking, handshake == nil { return close("no certificate") }
        context = endpoint.connectionOpened(self)
        do throws(NetError) { try socket.register(at: loop.events, handler: self) } catch {
            close(ServingError.system(error).description)
        }
    }

    /// The TLS connection after its handshake; nil on a UNIX socket.
    package var encryption: TLSConnection? { socket.transport.encryption }

    /// Whether the process at the other end of a UNIX socket runs as root or as the server's own user.
    package var isAdministrator: Bool { peerUserID.map { $0 == 0 || $0 == ProcessFacts.userID } ?? false }

    /// The user of the process at the other end of a UNIX socket; nil on the network.
    package var peerUserID: UInt32? { listener.kind == .admin ? socket.peerUserID : nil }

    /// Whether the connection is closing because of the peer's behavior.
    package var isCondemned: Bool { state.isCondemned }

    /// Returns the address for the store's answers to an exchange of this connection.
    package func address(of exchange: HTTPExchange) -> ReplyAddress {
        ReplyAddress(loop: loop.index, slot: slot, generation: generation, exchange: exchange.id)
    }

    /// Returns an exchange if it is still open.
    func exchange(_ id: Int32) -> HTTPExchange? { http?.exchange(id) }

    /// Whether the open request may be answered with another protocol.
    package var upgradeReadiness: UpgradeReadiness { http?.upgradeReadiness ?? .unavailable }

    /// Switches the connection to another protocol in answer to the open request.
    ///
    /// - Parameter makeSession: Creates the session that takes over. Its argument is the output to send first.
    /// - Returns: Whether it was switched; false unless `upgradeReadiness` is `ready`.
    package func upgrade(_ makeSession: ([UInt8]) -> any ConnectionSession) -> Bool {
        guard let (output, input) = http?.switchProtocols() else { return false }
        (http, session) = (nil, makeSession(output))
        if !input.isEmpty { receive(input.span) }
        loop.markDirty(self)
        return true
    }

    // MARK: Input

    package func ready(_ readiness: Readiness) {
        guard !state.isClosed else { return }
        loop.includeInTicks(self)
        if readiness.contains(.writable) { loop.markDirty(self) }
        if readiness.contains(.failed), state.isAnswering || handshake != nil || isPaused {
            return close("the peer is gone")
        }
        if state.isAnswering { return }
        // A handshake or a read may have waited until the socket was writable.
        let goesOnReading = readiness.contains(.writable) && (handshake != nil || state.readsAfterWriting)
        guard goesOnReading || readiness.contains(.readable) || readiness.contains(.failed) else { return }
        state.readsAfterWriting = false
        if let handshake { prepare(handshake, readiness) } else { takeInput() }
    }

    /// Ends the handshake; the connection is encrypted from now on.
    func handshakeIsDone(_ connection: TLSConnection) {
        state.finishHandshake()
        handshake = nil
        socket.transport = .tls(connection)
        // The bytes of the handshake no longer count, so they cannot pause the first request.
        reportMemory()
        if connection.application != .unknown { serve(connection.application) }
    }

    func takeInput() {
        do throws(ServingError) {
            if state.isDetecting {
                try readInput()
                if state.isDetecting, !state.readsAfterWriting { watch(.readable) }
            } else if state.isServing, !state.isAnswering {
                try readInput()
            } else if state.isLingering {
                if try unsafe socket.dropInput(using: loop.readBuffer) { close(nil) }
            }
        } catch {
            close(error.description)
        }
    }

    private func readInput() throws(ServingError) {
        for _ in 0..<Limits.readsPerTurnCountMax {
            guard !socket.isFull, !isPaused else { return watchForNext() }
            switch try unsafe socket.transport.read(socket.rawValue, into: loop.readBuffer) {
            case .mustWait:
                if isStranger { reportMemory() }
                return
            case .mustWrite:
                state.readsAfterWriting = true
                watch(.writable)
                return loop.markDirty(self)
            case .closed: return endInput()
            case .bytes(let count):
                let bytes = unsafe Span<UInt8>(
                    _unsafeBytes: UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
                take(bytes)
                // Further input, including its end, makes the socket ready again. Another read would usually find
                // nothing.
                let isAll = count < Limits.readBufferByteCount && !socket.transport.hasBufferedInput
                guard !isAll, !state.isClosed else { return }
            }
        }
        readBufferedInputSoon()
    }

    /// Handles the end of input: requests that arrived are answered before the connection closes.
    ///
    /// - SeeAlso: RFC 8446, section 6.1
    private func endInput() {
        let isAnythingLeft = http.map { endUnanswerable($0) || $0.hasOutput || !socket.pending.isEmpty } ?? false
        guard state.endInput(isAnythingLeft: isAnythingLeft) == .none else { return close(nil) }
        // The end of input would be reported in each turn.
        watch([])
        loop.markDirty(self)
    }

    /// Ends streams, which have no reader, and incomplete requests; returns whether other exchanges are open.
    private func endUnanswerable(_ http: any HTTPSession) -> Bool {
        var isAnyLeft = false
        for exchange in http.openExchanges {
            if !endpoint.endStream(exchange, on: self), exchange.isComplete || exchange.isAnswered {
                isAnyLeft = true
            } else {
                exchange.abandon()
            }
        }
        return isAnyLeft
    }

    /// Schedules a read of input that TLS has buffered, because the socket may not become ready for it again.
    private func readBufferedInputSoon() {
        guard socket.transport.hasBufferedInput else { return }
        loop.events.schedule(after: .zero) { self.ready(.readable) }
    }

    private func take(_ bytes: Span<UInt8>) {
        guard state.isDetecting else { return receive(bytes) }
        guard let (version, first) = early.take(bytes) else { return }
        serve(version)
        receive(first.span)
    }

    private func serve(_ version: TLSConnection.Application) {
        http = loop.makeSession(version, for: self)
        session = http
        setRetainedByteCountMax()
        if !isStranger { http?.advertiseStreams(Limits.concurrentStreamCountMax) }
        state.serve()
        loop.markDirty(self)
    }

    /// Records the identity that the peer has proven, and allows it all streams.
    ///
    /// - Parameter principal: A device or a provider. A proof after the first one changes nothing.
    package func authenticated(as principal: Principal) {
        if isStranger {
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
        let now = loop.events.now
        session.now = now
        let goesOn = session.receive(bytes)
        deadlines.received((session.completedMessageCount, session.awaitsRest), now: now)
        if !goesOn {
            loop.metrics.failedSessions.add()
            loop.context.log.failedSession(self, reason: session.failure ?? "closed")
            state.sayGoodbye()
        }
        reportMemory()
        // Most input on a WebSocket consists of acknowledgements, which need no answer.
        if http == nil, state.isStaying, session.isQuiet { return }
        loop.markDirty(self)
    }

    // MARK: Requests

    package func headTooLarge(_ exchange: HTTPExchange) { endpoint.headTooLarge(exchange) }

    package func headArrived(_ exchange: HTTPExchange) {
        state.noteRequest()
        deadlines.requestBegan(now: loop.events.now)
        guard !isCondemned else { return }
        exchange.bodyByteCountMax = endpoint.headArrived(exchange, on: self)
        // A client may send the heads of many requests before the first body.
        if isStranger, session?.openExchangeCount == Limits.streamCountBeforeEarlyAuthentication {
            endpoint.recognize(exchange, on: self)
        }
    }

    package func requestArrived(_ exchange: HTTPExchange) {
        deadlines.requestEnded()
        exchange.arrivedAt = loop.events.now
        if isStranger { loop.strangerProgressed(self) } else { loop.requestArrived() }
        guard !exchange.isAnswered else { return }
        if isCondemned {
            exchange.context = nil
            return endpoint.refuseWhileClosing(exchange)
        }
        endpoint.answer(exchange, on: self)
    }

    package func exchangeEnded(_ exchange: HTTPExchange) {
        endpoint.exchangeEnded(exchange, on: self)
        exchange.context = nil
    }

    // MARK: Output

    /// Schedules a flush of the session's output at the end of this turn.
    package func needsFlush() { loop.markDirty(self) }

    /// Writes the session's output as far as the socket accepts it.
    func flush() {
        guard state.isServing, let session else { return }
        do throws(ServingError) {
            noteWritten(try socket.sendPending())
            while socket.pending.isEmpty, session.hasOutput {
                loop.output.removeAll(keepingCapacity: true)
                session.collectOutput(into: &loop.output, limit: Limits.outputByteCountHigh)
                guard !loop.output.isEmpty else { break }
                noteWritten(try socket.send(loop.output))
            }
        } catch {
            return close(error.description)
        }
        settle(session)
    }

    private func noteWritten(_ byteCount: Int) {
        if byteCount > 0 { deadlines.wrote(now: loop.events.now) }
    }

    /// Closes the connection after a flush if everything is sent, else watches for the next events.
    private func settle(_ session: any ConnectionSession) {
        let isFlushed = socket.pending.isEmpty && !state.readsAfterWriting
        deadlines.outputWaits(!isFlushed, now: loop.events.now)
        if isFlushed {
            let isAnythingLeft = !state.isAnswering || http.map { endUnanswerable($0) } ?? true
            let action = state.outputSent(
                isSessionFinished: session.isFinished, openExchangeCount: session.openExchangeCount,
                isAnythingLeft: isAnythingLeft)
            guard action == .none else { return carryOut(action) }
        }
        reportMemory()
        if isFlushed, !socket.isWatchedForInput { readBufferedInputSoon() }
        watchForNext()
    }

    /// Whether nothing is read until a later flush.
    private var isPaused: Bool { memory.isPaused || session?.acceptsInput == false }

    private func watchForNext() {
        watch(state.awaitedEvents(isFlushed: socket.pending.isEmpty, isFull: socket.isFull, isPaused: isPaused))
    }

    func watch(_ wanted: Readiness) {
        do throws(NetError) { try socket.watch(wanted, at: loop.events) } catch { close(error.description) }
    }

    /// Whether only streams are open, all output was accepted, and no message is incomplete, as with an idle device.
    var isQuiet: Bool {
        guard state.isServing, !state.isAnswering, state.isStaying, !isDirty, !memory.isPaused, socket.pending.isEmpty,
            let session
        else { return false }
        return session.isQuiet && !deadlines.isRunning
    }

    // MARK: The session and the socket

    /// Ends the session; its open exchanges end unanswered.
    func closeSession() {
        session?.close()
        (session, http) = (nil, nil)
    }
}
