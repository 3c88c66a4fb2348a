// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushHTTP
package import PushNet
package import PushStore
package import PushTLS

/// One thread's share of the server: its listeners, connections and buffers, and what it sends to the store.
///
/// Loops share nothing with each other. A turn of the loop reads input, gathers commands for the store, and flushes
/// each connection that has output once. The store's answers arrive through the mailbox. The APIs are behind
/// `LoopDelegate` and `Endpoint`.
@safe package final class ServerLoop {
    package let index: UInt32
    package let context: ServingContext
    package let events: EventLoop
    private let apis: LoopAPIs
    /// The limits of the HTTP sessions.
    private(set) var httpLimits: HTTPSessionLimits
    private(set) var strangerLimits: StrangerLimits
    /// The connections of proxies that wait for their header.
    var greetings: [ObjectIdentifier: ProxyGreeting] = [:]
    /// The memory pool of the HTTP/2 sessions.
    let http2Memory = HTTP2Memory()
    let metrics: LoopMetrics
    /// The counts of the memory that this loop's connections hold.
    let memory: LoopMemory
    /// The certificate for connections accepted from now on.
    private(set) var certificate: TLSContext?
    private(set) var connections = ConnectionTable()
    package private(set) var isShuttingDown = false
    /// Whether the loop has shut down and its last connection is closed.
    private var isDone = false
    /// Called when the loop begins to shut down.
    package var onShutdown: () -> Void = {}

    private var listeners: [Listener] = []
    /// The host of the devices that are connected to this loop.
    private let host: LoopHost
    private var isHostDelivering = false
    /// The earliest time for which `scheduleHost` has set a timer; nil without one.
    private var hostTimerDue: MonotonicTime?
    private var dirty: [ServerConnection] = []
    private var hasEndOfTurn = false
    private var handshakes: HandshakeQueue<ServerConnection>
    private var handshakeBudget = HandshakeBudget()
    private var isAwaitingSlot = false
    /// Connections without a proven credential.
    var strangers = StrangerQueue()
    var principalSearch = PrincipalSearch()
    /// The process's memory; only on the control loop.
    private var resident: ResidentMemory?
    /// Whether memory budgets were exceeded in this turn.
    var mustShedMemory = false
    /// The number of connections flushed since the last tick.
    private var flushCount = 0
    /// The number of connections that were opened, closed or flushed in bursts since memory was last released.
    ///
    /// `changeCountAtTick` is its value at the last tick.
    private var changeCount = 0
    private var changeCountAtTick = 0
    private let readStorage: UnsafeMutableRawBufferPointer
    /// The output buffer, used by one connection at a time while it flushes.
    var output: [UInt8] = []

    /// Creates a loop without listeners.
    ///
    /// - Parameters:
    ///   - index: The index of the loop among the store's receivers.
    ///   - context: The state that all loops share.
    ///   - mailbox: The mailbox for messages from other threads.
    ///   - certificate: The server's certificate; nil for a loop without network ports.
    /// - Throws: `ServingError.system` without memory or descriptors.
    package init(
        index: UInt32, context: ServingContext, mailbox: Mailbox<LoopMessage>, certificate: TLSContext?
    ) throws(ServingError) {
        self.index = index
        self.context = context
        let apis = LoopAPIs()
        self.apis = apis
        metrics = context.loopMetrics[Int(index)]
        host = context.store.makeHost(loop: index, metrics: metrics.host) { apis.delegate?.take($0) }
        memory = LoopMemory(context.memory)
        handshakes = HandshakeQueue(slotCountMax: context.memory.handshakeCountMax)
        self.certificate = certificate
        resident = index == context.dataLoops.count ? ResidentMemory() : nil
        strangerLimits = context.strangerLimits
        httpLimits = Self.httpLimits(context.strangerLimits)
        unsafe readStorage = .allocate(byteCount: Limits.readBufferByteCount, alignment: 16)
        output.reserveCapacity(Limits.outputByteCountHigh)
        do throws(NetError) { events = try EventLoop() } catch { throw .system(error) }
        try ServingError.wrapping { () throws(NetError) in
            try events.attach(mailbox) { [unowned self] messages in
                for message in messages { self.take(message) }
            }
        }
        scheduleTick()
    }

    deinit { unsafe readStorage.deallocate() }

    private static func httpLimits(_ strangerLimits: StrangerLimits) -> HTTPSessionLimits {
        HTTPSessionLimits(
            concurrentStreamCountMax: Limits.concurrentStreamCountMax,
            advertisedStreamCount: strangerLimits.streamCountMax,
            headerListByteCountMax: Limits.headerListByteCountMax,
            advertisedHeaderListByteCountMax: Limits.advertisedHeaderListByteCountMax,
            headerFieldCountMax: Limits.headerFieldCountMax)
    }

    /// Connects the loop to the APIs; called once, before `listen` and `run`.
    package func attach(_ delegate: any LoopDelegate) { apis.delegate = delegate }

    func makeEndpoint(_ kind: ListenerKind) -> any Endpoint {
        guard let delegate = apis.delegate else { preconditionFailure("a loop listens before it has APIs") }
        return delegate.makeEndpoint(kind)
    }

    /// Accepts connections from a listening socket.
    package func listen(on socket: ListeningSocket) throws(NetError) {
        let listener = Listener(socket, loop: self)
        try listener.start()
        listeners.append(listener)
    }

    /// Serves the network ports on this thread until the loop has shut down and its last connection is closed.
    package func run(_ sockets: [ListeningSocket]) throws(ServingError) {
        try ServingError.wrapping { () throws(NetError) in
            for socket in sockets { try listen(on: socket) }
        }
        events.run()
    }

    /// The read buffer, valid until the next read on this loop.
    var readBuffer: UnsafeMutableRawBufferPointer { unsafe readStorage }

    // MARK: To the store

    /// Gathers a command; all commands of one turn go to the store together.
    package func submit(_ command: StoreCommand) {
        host.submit(command, at: events.now)
        needEndOfTurn()
    }

    /// Schedules a flush of a connection at the end of this turn.
    package func markDirty(_ connection: ServerConnection) {
        guard !connection.isDirty else { return }
        includeInTicks(connection)
        connection.isDirty = true
        flushCount += 1
        dirty.append(connection)
        needEndOfTurn()
    }

    /// Flushes a connection immediately while the host delivers at the end of a turn; otherwise schedules its flush.
    ///
    /// The host delivers all notifications of a device at once, and the processor's caches still hold the output. So
    /// one spare buffer is enough for all devices of the turn.
    ///
    /// - Parameter connection: The connection, with its output of this turn.
    package func flushDelivery(_ connection: ServerConnection) {
        guard isHostDelivering else { return markDirty(connection) }
        includeInTicks(connection)
        flushCount += 1
        connection.flush()
    }

    /// Schedules a connection's next handshake step at the end of this turn or of a later one.
    func queueHandshake(_ connection: ServerConnection) {
        handshakes.append(connection)
        needEndOfTurn()
    }

    func needEndOfTurn() {
        guard !hasEndOfTurn else { return }
        hasEndOfTurn = true
        events.atEndOfTurn { [unowned self] in self.endTurn() }
    }

    private func endTurn() {
        hasEndOfTurn = false
        isHostDelivering = true
        host.endTurn(at: events.now)
        isHostDelivering = false
        flushDirty()
        if mustShedMemory { shedMemory() }
        host.send(at: events.now)
        scheduleHost()
        // Last, so that they delay nothing that was ready in this turn.
        continueHandshakes()
    }

    /// Schedules another end of a turn for the time at which something is due at the host.
    private func scheduleHost() {
        guard let due = host.nextDue, hostTimerDue.map({ due < $0 }) ?? true else { return }
        hostTimerDue = due
        events.schedule(after: due.duration(since: events.now)) { [unowned self] in
            if hostTimerDue == due { hostTimerDue = nil }
            needEndOfTurn()
        }
    }

    private func continueHandshakes() {
        guard !handshakes.isEmpty else { return }
        var isWaiting = false
        handshakeBudget.spend(turnBeganAt: events.now, clock: { .now }) {
            guard let connection = handshakes.takeNext(now: events.now) else {
                isWaiting = !handshakes.isEmpty
                return false
            }
            connection.continueHandshake()
            return true
        }
        handshakes.endTurn()
        guard !handshakes.isEmpty else { return }
        // If no handshake can continue, the next slot that becomes free triggers another look.
        if isWaiting { awaitSlot() } else { needEndOfTurn() }
    }

    /// Notes a request of an authenticated peer, which handshakes must not delay.
    func requestArrived() { handshakeBudget.noteRequest(at: events.now) }

    /// Looks again when the slot of the oldest handshake in flight becomes free.
    private func awaitSlot() {
        guard !isAwaitingSlot else { return }
        isAwaitingSlot = true
        events.schedule(after: Limits.handshakeSlotDuration) { [unowned self] in
            isAwaitingSlot = false
            needEndOfTurn()
        }
    }

    /// Frees the slot of a handshake that has ended.
    func handshakeEnded(_ connection: ServerConnection) {
        guard connection.handshakeTurn.ticket != 0 else { return }
        handshakes.freeSlot(of: connection)
        if !handshakes.isEmpty { needEndOfTurn() }
    }

    func hasPassed(_ duration: Duration, since moment: MonotonicTime) -> Bool {
        events.now > moment && events.now.duration(since: moment) >= duration
    }

    private func flushDirty() {
        var next = 0
        while next < dirty.count {
            dirty[next].isDirty = false
            dirty[next].flush()
            next += 1
        }
        dirty.removeAll(keepingCapacity: true)
    }

    // MARK: From other threads

    private func take(_ message: LoopMessage) {
        switch message {
        case .replies(let replies):
            for reply in replies { host.receive(reply, at: events.now) }
            needEndOfTurn()
        case .certificate(let certificate): self.certificate = certificate
        case .settings(let limits):
            strangerLimits = limits
            httpLimits = Self.httpLimits(limits)
            apis.delegate?.settingsChanged()
        case .makeRoom: _ = shedLocally()
        case .shutDown: shutDown()
        case .end: end()
        }
    }

    /// Finds the exchange of an address, if it still exists, and schedules a flush of its connection.
    package func answering(_ address: ReplyAddress, _ body: (HTTPExchange, ServerConnection) -> Void) {
        guard let connection = connections[slot: address.slot, generation: address.generation],
            let exchange = connection.exchange(address.exchange)
        else { return }
        body(exchange, connection)
        markDirty(connection)
    }

    // MARK: Connections

    func adopt(_ socket: consuming FileDescriptor, from listener: Listener, source: SourceAddress? = nil) {
        let place = connections.reserve()
        let connection = ServerConnection(
            socket: socket, loop: self, slot: place.slot, generation: place.generation, listener: listener,
            source: source)
        connections.fill(place.slot, with: connection)
        changeCount += 1
        if connection.isStranger { admit(connection) }
        connection.start()
        // A proxy's header may arrive after the shutdown began.
        if isShuttingDown { connection.beginShutdown() }
        if listener.kind == .metrics { shedMonitors() }
    }

    /// Creates the session of a connection; the port for monitoring has only HTTP/1.1.
    func makeSession(_ version: TLSConnection.Application, for connection: ServerConnection) -> any HTTPSession {
        switch version {
        case .http2 where connection.listener.kind != .metrics:
            HTTP2Session(limits: httpLimits, memory: http2Memory, metrics: metrics.http2, delegate: connection)
        case .http2, .http1, .unknown: HTTP1Session(limits: httpLimits, delegate: connection)
        }
    }

    // MARK: Ticks

    /// Excludes a connection from ticks until something happens on it, because it has no running deadline.
    func excludeFromTicks(_ connection: ServerConnection) {
        connection.isExcludedFromTicks = true
        connections.setExcluded(connection.slot, true)
    }

    /// Includes a connection in ticks again, because something happened on it.
    func includeInTicks(_ connection: ServerConnection) {
        guard connection.isExcludedFromTicks else { return }
        connection.isExcludedFromTicks = false
        connections.setExcluded(connection.slot, false)
    }

    func remove(_ connection: ServerConnection) {
        connections.release(connection.slot)
        strangers.remove(connection.slot)
        changeCount += 1
        if connection.listener.kind.isNetwork {
            context.limiter.closed(connection.network, connection.principal.connectionKind)
        }
        finishIfDrained()
    }

    /// Releases memory to the system after a burst: handshakes, a broadcast, or closed connections.
    private func releaseMemory() {
        let burst = Limits.connectionChangesPerTrimCount
        // Heartbeats continue all the time and are not a burst.
        if flushCount >= burst { changeCount += flushCount }
        flushCount = 0
        defer { changeCountAtTick = changeCount }
        guard changeCount >= burst, changeCount - changeCountAtTick < burst / 10 else { return }
        changeCount = 0
        Heap.trim()
    }

    /// Schedules the tick, which checks deadlines and sends heartbeats once a second.
    private func scheduleTick() {
        // Not weak: see `HTTP2Session.delegate`. The timer ends with `events`, and `events` with the loop.
        events.schedule(after: .seconds(1)) { [unowned self] in
            self.context.tick(self.index, now: self.events.now)
            self.connections.forEachTicked { $0.tick() }
            self.metrics.busy.set(self.events.busyNanoseconds)
            self.releaseMemory()
            self.resident?.tick(now: self.events.now)
            self.apis.delegate?.tick()
            self.scheduleTick()
        }
    }

    // MARK: The end

    /// Stops accepting, answers the open requests, then ends the loop.
    package func shutDown() {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        onShutdown()
        for listener in listeners { listener.close() }
        events.schedule(after: Limits.drainTimeout) { [unowned self] in
            for greeting in Array(self.greetings.values) { greeting.end() }
        }
        apis.delegate?.shutDown()
        connections.forEach { $0.beginShutdown() }
        events.schedule(after: Limits.shutdownTimeout) { [unowned self] in
            self.connections.forEach { $0.close("shutdown took too long") }
        }
        finishIfDrained()
    }

    func finishIfDrained() {
        guard isShuttingDown, !isDone, connections.count == 0, greetings.isEmpty else { return }
        isDone = true
        context.loopIsDone()
        if !context.dataLoops.indices.contains(Int(index)) { end() }
    }

    private func end() {
        // Commands of this turn must still reach the store.
        events.atEndOfTurn { [unowned self] in
            self.endTurn()
            (self.listeners, self.apis.delegate) = ([], nil)
            self.events.stop()
        }
    }
}

/// The APIs of a loop, which its host reaches without the loop.
private final class LoopAPIs {
    /// The APIs; nil before `ServerLoop.attach` and after the loop's end.
    var delegate: (any LoopDelegate)?
}
