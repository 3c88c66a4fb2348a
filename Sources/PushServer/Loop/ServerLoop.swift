// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore
internal import PushTLS

/// One thread's share of the server: its listeners, connections, streams and buffers.
///
/// Loops share nothing with each other. A turn of the loop reads input, gathers commands for the store, and flushes
/// each connection that has output once. The store's answers arrive through the mailbox and are sent in the same way.
@safe final class ServerLoop {
    let index: UInt32
    let context: ServerContext
    let events: EventLoop
    /// The limits of the HTTP sessions.
    let httpLimits: HTTPSessionLimits
    /// The memory pool of the HTTP/2 sessions.
    let http2Memory = HTTP2Memory()
    /// The memory that this loop's connections hold.
    let memory: LoopMemory
    /// The source of random IDs.
    let random = RandomNumbers()
    private let productionCipher: TokenCipher
    private let developmentCipher: TokenCipher
    private(set) var directory: TopicDirectory
    /// The certificate for connections accepted from now on.
    private(set) var certificate: TLSContext?
    private(set) var connections = ConnectionTable()
    private(set) var isShuttingDown = false
    /// The number of notifications that the store has not answered yet.
    var unansweredAcceptCount = 0
    /// The long lists that are on their way to providers.
    private var listings = ChannelListings()
    /// The costly requests of devices that are on their way to the store.
    var unanswered = UnansweredRequests()
    /// Called when the loop begins to shut down.
    var onShutdown: () -> Void = {}

    private var listeners: [Listener] = []
    private var commands: [StoreCommand] = []
    private var dirty: [ServerConnection] = []
    private var hasEndOfTurn = false
    private var handshakes: HandshakeQueue<ServerConnection>
    /// Connections without a proven credential.
    var strangers = StrangerQueue()
    /// The time of the last search for a principal with too many connections.
    var crowdSearchNanoseconds: UInt64 = 0
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
    private(set) lazy var streams = DeviceStreams(loop: self)
    let quotas: LoopQuotas

    init(
        index: UInt32, context: ServerContext, mailbox: Mailbox<LoopMessage>, certificate: TLSContext?
    ) throws(ServerError) {
        self.index = index
        self.context = context
        memory = LoopMemory(context.memory)
        handshakes = HandshakeQueue(slotCountMax: context.memory.handshakeCountMax)
        quotas = LoopQuotas(context.quotas)
        self.certificate = certificate
        resident = index == context.dataLoops.count ? ResidentMemory() : nil
        httpLimits = HTTPSessionLimits(
            concurrentStreamCountMax: Limits.concurrentStreamCountMax,
            advertisedStreamCount: context.configuration.unauthenticatedStreamCountMax,
            headerListByteCountMax: Limits.headerListByteCountMax,
            advertisedHeaderListByteCountMax: Limits.advertisedHeaderListByteCountMax,
            headerFieldCountMax: Limits.headerFieldCountMax)
        directory = TopicDirectory(Directory(version: 0, topics: [:], keys: [:]))
        unsafe readStorage = .allocate(byteCount: Limits.readBufferByteCount, alignment: 16)
        output.reserveCapacity(Limits.outputByteCountHigh)
        do throws(NetError) { events = try EventLoop() } catch { throw .system(error) }
        do throws(TLSError) {
            productionCipher = try context.installation.makeTokenCipher(for: .production)
            developmentCipher = try context.installation.makeTokenCipher(for: .development)
        } catch {
            throw .tls(error)
        }
        try ServerError.wrapping { () throws(NetError) in
            try events.attach(mailbox) { [unowned self] messages in
                for message in messages { self.take(message) }
            }
        }
        scheduleTick()
    }

    deinit { unsafe readStorage.deallocate() }

    /// Accepts connections from a listening socket.
    func listen(on socket: ListeningSocket) throws(NetError) {
        let listener = Listener(socket, loop: self)
        try listener.start()
        listeners.append(listener)
    }

    /// Serves the network ports on this thread until the loop has shut down and its last connection is closed.
    func run(_ sockets: [ListeningSocket]) throws(ServerError) {
        try ServerError.wrapping { () throws(NetError) in
            for socket in sockets { try listen(on: socket) }
        }
        events.run()
    }

    /// The read buffer, valid until the next read on this loop.
    var readBuffer: UnsafeMutableRawBufferPointer { unsafe readStorage }

    /// Returns the cipher that encrypts and decrypts the device tokens of an environment.
    func cipher(for environment: Environment) -> TokenCipher {
        switch environment {
        case .production: productionCipher
        case .development: developmentCipher
        }
    }

    // MARK: To the store

    /// Gathers a command; all commands of one turn go to the store together.
    func submit(_ command: StoreCommand) {
        commands.append(command)
        needEndOfTurn()
    }

    /// Schedules a flush of a connection at the end of this turn.
    func markDirty(_ connection: ServerConnection) {
        guard !connection.isDirty else { return }
        wake(connection)
        connection.isDirty = true
        flushCount += 1
        dirty.append(connection)
        needEndOfTurn()
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
        continueHandshakes()
        flushDirty()
        if mustShedMemory { shedMemory() }
        if !commands.isEmpty { context.store.submit(&commands) }
    }

    private func continueHandshakes() {
        guard !handshakes.isEmpty else { return }
        let turn = handshakes.takeTurn()
        for connection in turn { connection.continueHandshake() }
        // If no handshake could continue, the next slot that becomes free triggers another look.
        if !turn.isEmpty, !handshakes.isEmpty { needEndOfTurn() }
    }

    /// Frees the slot of a handshake that has ended.
    func handshakeEnded(_ connection: ServerConnection) {
        guard connection.holdsHandshakeSlot else { return }
        handshakes.freeSlot(of: connection)
        if !handshakes.isEmpty { needEndOfTurn() }
    }

    /// Frees the slot of a handshake that its peer has stalled.
    func freeStalledSlot(of connection: ServerConnection) {
        guard hasPassed(Limits.handshakeStallPatience, since: connection.progressNanoseconds) else { return }
        handshakeEnded(connection)
    }

    func hasPassed(_ duration: Duration, since moment: UInt64) -> Bool {
        let now = events.monotonicNanoseconds
        return now > moment && now - moment >= UInt64(duration / .nanoseconds(1))
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
        case .replies(let replies): for reply in replies { take(reply) }
        case .certificate(let certificate): self.certificate = certificate
        case .makeRoom: _ = shedStranger() || shedCrowd()
        case .shutDown: shutDown()
        }
    }

    private func take(_ reply: StoreReply) {
        switch reply {
        case .accepted(let answer):
            unansweredAcceptCount -= 1
            answering(answer) { exchange, _ in
                if !exchange.isAnswered { ProviderAnswer.accept(exchange) }
            }
        case .refused(let reason, let time, let answer):
            unansweredAcceptCount -= 1
            answering(answer) { exchange, _ in
                (exchange.context as? PayloadWarnings)?.counted?.giveBack()
                guard !exchange.isAnswered else { return }
                ProviderAnswer.reject(
                    exchange, refusedByStore: reason, context.storeCondition, unixMilliseconds: time)
            }
        case .attached(let device, let stream): streams.attached(device, stream)
        case .deliver(let notifications, let stream): deliver(notifications, to: stream)
        case .ended(let end, let stream): streams.ended(end, stream)
        case .performed(let result, let answer):
            listings.answered(answer)
            unanswered.end(answer)
            answering(answer) { exchange, connection in
                // A shutdown or a timeout may have answered it first.
                guard !exchange.isAnswered, let call = exchange.context as? StoreContinuation else { return }
                exchange.context = nil
                if case .failure(let refusal) = result { context.log.refused(refusal, on: connection) }
                call.complete(result, exchange)
            }
        case .directory(let directory):
            let hasPolicyChanged = directory.policyVersion != self.directory.policyVersion
            self.directory = TopicDirectory(directory)
            if hasPolicyChanged { streams.tellPolicy(PolicyNotice(version: directory.policyVersion)) }
        }
    }

    /// Delivers notifications; a WebSocket is its connection's only stream and is found without hashing.
    private func deliver(_ notifications: [PendingNotification], to stream: ReplyAddress) {
        if let socket = connections[slot: stream.slot, generation: stream.generation]?.webSocket {
            socket.send(notifications)
        } else {
            streams.deliver(notifications, to: stream)
        }
    }

    /// Finds the exchange of an address, if it still exists, and schedules a flush of its connection.
    func answering(_ address: ReplyAddress, _ body: (HTTPExchange, ServerConnection) -> Void) {
        guard let connection = connections[slot: address.slot, generation: address.generation],
            let exchange = connection.exchange(address.exchange)
        else { return }
        body(exchange, connection)
        markDirty(connection)
    }

    // MARK: Long lists

    /// Counts a request for a long list until its exchange ends; returns false if too many are under way.
    func beginsListing(of team: String, _ exchange: HTTPExchange, on connection: ServerConnection) -> Bool {
        guard connection.listings.count < Limits.listingPerConnectionCountMax,
            listings.begin(of: team, at: connection.address(of: exchange))
        else { return false }
        connection.listings[exchange.id] = team
        return true
    }

    /// Notes the end of an exchange that may have been a long list.
    func endListing(_ exchange: HTTPExchange, on connection: ServerConnection) {
        guard !connection.listings.isEmpty, let team = connection.listings.removeValue(forKey: exchange.id) else {
            return
        }
        listings.end(of: team)
    }

    // MARK: Connections

    func adopt(_ socket: consuming FileDescriptor, from listener: Listener) {
        let place = connections.reserve()
        let connection = ServerConnection(
            socket: socket, loop: self, slot: place.slot, generation: place.generation, listener: listener)
        connections.fill(place.slot, with: connection)
        changeCount += 1
        if connection.principal.isStranger { admit(connection) }
        connection.start()
    }

    // MARK: Resting

    /// Excludes a connection from ticks until something happens on it, because it has no running deadline.
    func rest(_ connection: ServerConnection) {
        connection.isResting = true
        connections.setResting(connection.slot, true)
    }

    /// Includes a connection in ticks again, because something happened on it.
    func wake(_ connection: ServerConnection) {
        guard connection.isResting else { return }
        connection.isResting = false
        connections.setResting(connection.slot, false)
    }

    func remove(_ connection: ServerConnection) {
        connections.release(connection.slot)
        strangers.remove(connection.slot)
        changeCount += 1
        if connection.listener.kind != .admin {
            context.limiter.closed(connection.network, connection.principal.connectionKind)
        }
        finishIfDrained()
    }

    /// Releases memory to the system after a burst: handshakes, a broadcast, or closed connections.
    private func giveBackMemory() {
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
            self.connections.forEachAwake { $0.tick() }
            self.giveBackMemory()
            self.resident?.tick(now: self.events.monotonicNanoseconds)
            self.streams.tick()
            self.scheduleTick()
        }
    }

    // MARK: The end

    /// Stops accepting, answers the open requests, then ends the loop.
    func shutDown() {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        onShutdown()
        for listener in listeners { listener.close() }
        streams.endAll()
        connections.forEach { $0.beginShutdown() }
        events.schedule(after: Limits.shutdownPatience) { [unowned self] in
            self.connections.forEach { $0.close("shutdown took too long") }
        }
        finishIfDrained()
    }

    private func finishIfDrained() {
        guard isShuttingDown, connections.count == 0 else { return }
        // Commands of this turn must still reach the store.
        events.atEndOfTurn { [unowned self] in
            self.endTurn()
            self.listeners = []
            self.events.stop()
        }
    }
}
