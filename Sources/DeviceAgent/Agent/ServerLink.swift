// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// The identity of the device at its server, the connection to that server, and what the status says about it.
final class ServerLink {
    /// The objects that exist while the device is enrolled.
    struct Clients {
        let session: ServerSession
        let stream: StreamClient
        let outboxSender: OutboxSender
        let registrar: Registrar
    }

    /// Receives arrivals; returns false if they could not be stored.
    var onArrivals: (([Arrival], _ serverNow: Timestamp?) -> Bool)?
    /// Called when the stream has opened, before the registrar sends; the argument is the wall clock, in whole seconds.
    var onOpen: ((Timestamp) -> Void)?
    /// Called when the server announces the version of its policies or of its authorities.
    var onNotice: ((VersionNotice) -> Void)?
    /// Receives the registrar's results.
    weak var registrarDelegate: (any RegistrarDelegate)?
    /// Whether the machine saves power.
    ///
    /// The server then batches notifications that are not urgent, and keepalives are sent less often.
    var savesPower = false {
        didSet {
            clients?.stream.savesPower = savesPower
            clients?.outboxSender.savesPower = savesPower
        }
    }

    private(set) var identity: Identity?
    private var secret: String?
    private(set) var clients: Clients?
    private(set) var connectedSince: Timestamp?
    private(set) var lastConnectedAt: Timestamp?
    /// The last problem of the connection, of the enrolment or of the database, for the status; nil for none.
    private(set) var failure: ConnectionFailure?
    /// Whether the server has removed this device; an enrolment resets it.
    private(set) var isRemoved = false
    private var serverClock = ServerClock()
    private let loop: EventLoop
    private let database: AgentDatabase
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let form: StreamForm
    private let access: ServerAccess
    private let trustStore: TrustStore
    private let trust = ServerTrust(caFile: "")

    init(
        loop: EventLoop, _ database: AgentDatabase, _ changes: ChangeNotifier, _ failures: DatabaseFailures,
        form: StreamForm, access: ServerAccess, trustStore: TrustStore
    ) {
        self.trustStore = trustStore
        self.loop = loop
        self.database = database
        self.changes = changes
        self.failures = failures
        self.form = form
        self.access = access
        failures.onFailure = { [weak self] in self?.report(.init(.storage, $0)) }
    }

    /// Shows a problem in the status.
    func report(_ failure: ConnectionFailure) {
        self.failure = failure
        changes.observer?.statusChanged()
    }

    /// Requests that the outbox and the changed filter are sent.
    func setNeedsFlush() { clients?.outboxSender.setNeedsFlush() }

    /// Starts a task for requests to the server, on the loop's thread.
    func startTask(_ body: @escaping () async -> Void) { loop.startTask(body) }

    // MARK: The identity

    /// Reads the identity and the time of the last connection.
    func load() throws(SQLError) {
        identity = try database.identity.load()
        lastConnectedAt = try database.state.time(of: .lastConnectedAt)
    }

    /// Removes the identity from memory after it was removed from the database.
    func forget() {
        (identity, secret) = (nil, nil)
        isRemoved = false
        failure = nil
    }

    // MARK: The connection

    /// Returns a session for requests without a device secret, for example an enrolment.
    func anonymousSession(url: String, caFile: String) -> ServerSession {
        ServerSession(loop: loop, url: url, caFile: caFile, secret: nil, access: access)
    }

    /// Returns a session to the server of the enrolment that trusts other authorities; nil while not enrolled.
    func session(trusting trust: ServerTrust) -> ServerSession? {
        guard let identity, let secret else { return nil }
        return ServerSession(loop: loop, url: identity.serverURL, trust: trust, secret: secret, access: access)
    }

    /// The PEM file of the trusted authorities; nil for those of the operating system.
    var trustedFile: String? { trust.caFile }

    /// Uses the stored authorities for the next connection.
    func refreshTrust() {
        guard let identity else { return }
        do throws(StorageError) {
            trust.adopt(try trustStore.trust(for: identity, now: .now))
        } catch {
            // The earlier authorities stay in use; those of the enrolment need no file.
            if trust.caFile == nil, !trust.includesSystem { trust.adopt(ServerTrust(caFile: identity.caFile)) }
            agentLog.error("authorities_not_stored", ["error": error.message])
        }
    }

    /// Connects to the server of an identity.
    func connect(_ identity: Identity, secret: String) {
        self.identity = identity
        refreshTrust()
        let session = ServerSession(
            loop: loop, url: identity.serverURL, trust: trust, secret: secret, access: access)
        self.secret = secret
        let outboxSender = OutboxSender(database, loop: loop, client: session.client)
        outboxSender.onFailure = { [failures] in failures.report($0) }
        outboxSender.savesPower = savesPower
        let stream = StreamClient(loop: loop, session: session, form: form)
        stream.delegate = self
        stream.savesPower = savesPower
        outboxSender.carrier = stream
        let registrar = Registrar(database, loop: loop, client: session.client)
        registrar.delegate = registrarDelegate
        clients = Clients(session: session, stream: stream, outboxSender: outboxSender, registrar: registrar)
        serverClock = ServerClock()
        isRemoved = false
        stream.start()
        changes.observer?.statusChanged()
    }

    /// Closes the connection.
    func disconnect() {
        guard let clients else { return }
        clients.stream.stop()
        clients.outboxSender.close()
        clients.registrar.close()
        noteDisconnected()
        self.clients = nil
    }

    private func noteDisconnected() {
        guard connectedSince != nil else { return }
        connectedSince = nil
        noteLastConnected(at: .now.roundedDownToSeconds)
    }

    /// Stores the time of the last connection.
    ///
    /// The time is also stored when the connection opens and when the inbox is trimmed, so that a kill does not lose
    /// it.
    ///
    /// - Parameter now: The wall clock, in whole seconds.
    private func noteLastConnected(at now: Timestamp) {
        lastConnectedAt = now
        do {
            try database.state.set(.lastConnectedAt, to: now)
        } catch {
            failures.report(error)
        }
    }
}

extension ServerLink: StreamClientDelegate {
    /// Passes arrivals on, with the server's time as far as it is known.
    func streamReceived(_ arrivals: [Arrival]) -> Bool {
        let elapsed = ElapsedClock.milliseconds()
        for case .notification(let notification) in arrivals {
            serverClock.note(acceptedAt: notification.acceptedAt, atElapsedMilliseconds: elapsed)
        }
        guard onArrivals?(arrivals, serverClock.time(atElapsedMilliseconds: elapsed)) == true else { return false }
        // The disk can be written again.
        if failure?.problem == .storage { failure = nil }
        return true
    }

    /// Records the connection, sends the outbox, and checks registrations.
    func streamOpened() {
        let now = Timestamp.now.roundedDownToSeconds
        connectedSince = now
        failure = nil
        noteLastConnected(at: now)
        agentLog.info("connected", ["server": identity?.serverURL ?? ""])
        clients?.outboxSender.open()
        onOpen?(now)
        clients?.registrar.open()
        changes.observer?.statusChanged()
    }

    func streamTold(_ notice: VersionNotice) { onNotice?(notice) }

    /// Records the end of the connection, which shows in the status and never as an alert.
    func streamEnded(_ failure: ConnectionFailure) {
        if failure.problem == .wrongServer {
            noteEnd("wrong_server", failure)
        } else {
            noteEnd("disconnected", failure)
        }
    }

    /// Records that the server refused the device; the agent does not reconnect.
    func streamRefused(_ reason: String) {
        isRemoved = true
        noteEnd("refused", .init(.removed, reason))
    }

    private func noteEnd(_ event: StaticString, _ failure: ConnectionFailure) {
        if let end = trust.changesAt, end <= .now { refreshTrust() }
        noteDisconnected()
        self.failure = failure
        agentLog.warning(event, ["reason": failure.text])
        clients?.outboxSender.close()
        clients?.registrar.close()
        changes.observer?.statusChanged()
    }
}
