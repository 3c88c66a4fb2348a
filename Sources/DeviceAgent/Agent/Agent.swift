// SPDX-License-Identifier: Apache-2.0

package import AgentStore
internal import PushCore
package import PushNet
package import PushSQLite

/// Receives the changes that the agent's clients subscribe to.
package protocol AgentObserver: AnyObject {
    /// Called when an app has a new device token.
    func tokenChanged(appID: String, deviceToken: String)
    /// Called when the number on an app's icon has changed.
    func badgeChanged(appID: String, count: UInt32)
    /// Called when settings of an app have changed; an empty app ID means the user's own settings.
    func settingsChanged(appID: String)
    /// Called when the server ended or refused an app's subscription; `reason` is the server's code.
    func subscriptionEnded(appID: String, channel: String, reason: String)
    /// Called when a notification has arrived and has an inbox entry; it may not be presented yet.
    func notificationArrived(entry: Int64)
    /// Called when inbox entries were added, changed or removed.
    func inboxChanged()
    /// Called when the set of alerts that wait in the panel has changed.
    func alertsChanged()
    /// Called when the connection, its error or the notice may have changed.
    func statusChanged()
}

/// The device agent: owns the database and the server connection, and connects receiving, deciding and presenting.
///
/// It runs on the loop's thread. Only SQLite's commits block.
package final class Agent {
    package weak var observer: (any AgentObserver)?
    /// Called when the disk can no longer be trusted; the process must end without acknowledging anything more.
    package var onFatal: ((SQLiteError) -> Void)?
    /// Whether the machine saves power.
    ///
    /// The server then batches notifications that are not urgent, and keepalives are sent less often.
    package var savesPower = false {
        didSet {
            link?.stream.savesPower = savesPower
            link?.outboxSender.savesPower = savesPower
        }
    }

    let loop: EventLoop
    let database: AgentDatabase
    let secretFile: SecretFile
    let authorityFile: EnrolledAuthority
    let environment: AgentEnvironment
    let streamForm: StreamForm
    let access: ServerAccess
    let receiver: Receiver
    let presentations: PresentationQueue
    let wakes: BackgroundLauncher
    let filters: FilterQueue
    /// Answers of the user that could not be written because the disk was full.
    let answers: StorageRetry
    /// The entries of these answers.
    var unwrittenAnswers: Set<Int64> = []
    var identity: Identity?
    var link: Link?
    var serverClock = ServerClock()
    var connectedSinceUnixSeconds: Int64?
    var lastConnectedUnixSeconds: Int64?
    var lastError = ""
    /// Whether the server has removed this device; an enrolment resets it.
    var isRemoved = false
    var isEnrolling = false
    /// The monotonic time of the next enrolment attempt with the values of `agent.ini`.
    var enrolmentDueNanoseconds: UInt64?
    /// The time of the last comparison of all registrations with the server; nil before the first one with this server.
    var checkedUnixSeconds: Int64?
    /// Subscriptions that the server ended, until the app subscribes or unsubscribes again.
    var endedSubscriptions: [EndedSubscription] = []
    private static let trimInterval: Duration = .seconds(3600)
    /// The time after which a start, or a burst of notifications, is over.
    private static let burstDuration: Duration = .seconds(30)
    private var isMemoryDue = false
    /// Whether a fetch of the policies is scheduled.
    var isPolicyDue = false
    private var isInboxChangeDue = false
    var isAlertsChangeDue = false
    private static let inboxChangeDelay: Duration = .milliseconds(50)

    /// The objects that exist while the device is enrolled.
    struct Link {
        let session: ServerSession
        let stream: StreamClient
        let outboxSender: OutboxSender
        let registrar: Registrar
    }

    /// Creates the agent; it opens no connection before `start`.
    package init(
        loop: EventLoop, database: AgentDatabase, secretFile: SecretFile, authorityFile: EnrolledAuthority,
        environment: AgentEnvironment,
        streamForm: StreamForm = .auto, access: ServerAccess = ServerAccess()
    ) {
        self.loop = loop
        self.access = access
        self.streamForm = streamForm
        self.database = database
        self.secretFile = secretFile
        self.authorityFile = authorityFile
        self.environment = environment
        receiver = Receiver(database, desk: environment.desk, texts: environment.texts)
        wakes = BackgroundLauncher(database, loop: loop)
        answers = StorageRetry(loop: loop)
        filters = FilterQueue(database, loop: loop, filter: environment.filter, texts: environment.texts) {
            () throws(SQLiteError) in
            try database.settings.circumstances(
                nowUnixMilliseconds: WallClock.unixMilliseconds(), desk: environment.desk())
        }
        presentations = PresentationQueue(
            database, loop: loop, presenter: environment.presenter, hooks: environment.hooks,
            sounds: environment.sounds, desk: environment.desk, texts: environment.texts)
        presentations.knowsSounds = environment.knowsSounds
    }

    /// Resumes the work of an earlier run, shows badges, and connects if the device is enrolled.
    package func start() throws(StorageError) {
        environment.presenter?.delegate = self
        environment.panel?.onChange = { [weak self] in self?.alertsChanged() }
        environment.hooks?.onFailure = { [weak self] entry, text in self?.note(text, on: entry) }
        joinFilters()
        answers.onFailure = { [weak self] in self?.databaseFailed($0) }
        wakes.start = { [weak self] in self?.wake($0, $1) ?? false }
        wakes.onFailure = { [weak self] in self?.databaseFailed($0) }
        presentations.onFailure = { [weak self] in self?.databaseFailed($0) }
        presentations.onChange = { [weak self] in self?.inboxChanged() }
        presentations.onOutcome = { [weak self] in self?.link?.outboxSender.setNeedsFlush() }
        do {
            identity = try database.identity.load()
            lastConnectedUnixSeconds = try database.facts.value(of: .lastConnectedUnixSeconds)
            try presentBadges()
            try presentations.resume()
            try filters.resume()
            try wakes.resume()
        } catch {
            throw .opening(database.path, error)
        }
        defer { watchInstallations() }
        trimInboxRepeatedly()
        guard let identity else { return }
        guard let secret = try secretFile.read() else {
            lastError = "The device secret is lost. Run 'posthorn agent unenrol --local', then enrol again."
            return agentLog.error("secret_missing", ["server": identity.serverURL])
        }
        connect(identity, secret: secret)
    }

    /// Sends the rest of the outbox for at most `patience`, closes the stream, then calls back.
    package func stop(within patience: Duration = .seconds(2), completion: @escaping () -> Void) {
        var hasEnded = false
        let end: () -> Void = { [weak self] in
            guard !hasEnded else { return }
            hasEnded = true
            self?.disconnect()
            completion()
        }
        guard let link else { return end() }
        loop.schedule(after: patience, end)
        link.outboxSender.whenEmpty(end)
    }

    /// Reports that addresses or routes have changed, or that the network is back.
    package func networkChanged() { link?.stream.networkChanged() }

    /// Reports that the machine is about to sleep.
    package func sleep() { link?.stream.sleep() }

    /// Reports that the machine has woken up.
    package func wake() { link?.stream.wake() }

    // MARK: The connection

    func connect(_ identity: Identity, secret: String) {
        let session = ServerSession(
            loop: loop, url: identity.serverURL, caFile: identity.caFile, secret: secret, access: access)
        let outboxSender = OutboxSender(database, loop: loop, client: session.client)
        outboxSender.onFailure = { [weak self] in self?.databaseFailed($0) }
        outboxSender.savesPower = savesPower
        let stream = StreamClient(loop: loop, session: session, form: streamForm)
        stream.delegate = self
        stream.savesPower = savesPower
        outboxSender.carrier = stream
        let registrar = Registrar(database, loop: loop, client: session.client)
        registrar.delegate = self
        link = Link(session: session, stream: stream, outboxSender: outboxSender, registrar: registrar)
        self.identity = identity
        checkedUnixSeconds = nil
        serverClock = ServerClock()
        isRemoved = false
        stream.start()
        observer?.statusChanged()
    }

    func disconnect() {
        guard let link else { return }
        link.stream.stop()
        link.outboxSender.close()
        link.registrar.close()
        noteDisconnected()
        self.link = nil
    }

    func noteDisconnected() {
        guard connectedSinceUnixSeconds != nil else { return }
        connectedSinceUnixSeconds = nil
        noteLastConnected(atUnixSeconds: WallClock.unixMilliseconds() / 1000)
    }

    /// Stores the time of the last connection.
    ///
    /// It is also written when the connection opens and at each trim of the inbox, so that it survives a kill.
    ///
    /// - Parameter now: The wall clock in UNIX seconds.
    func noteLastConnected(atUnixSeconds now: Int64) {
        lastConnectedUnixSeconds = now
        do {
            try database.facts.set(.lastConnectedUnixSeconds, to: now)
        } catch {
            databaseFailed(error)
        }
    }

    /// Trims the inbox once an hour, so that old entries expire while no new ones arrive.
    private func trimInboxRepeatedly() {
        trimInbox()
        giveMemoryBackSoon()
        loop.schedule(after: Self.trimInterval) { [weak self] in self?.trimInboxRepeatedly() }
    }

    /// Returns unused memory to the system when a start or a burst of notifications is over.
    func giveMemoryBackSoon() {
        guard !isMemoryDue else { return }
        isMemoryDue = true
        loop.schedule(after: Self.burstDuration) { [weak self] in
            self?.isMemoryDue = false
            Heap.trim()
            ProgramText.release()
        }
    }

    // MARK: Shared by the extensions

    /// Reports a database failure; an I/O error or a corrupt database ends the agent.
    ///
    /// Acknowledging notifications over a failing disk would lose them. A full disk is retried instead.
    ///
    /// - Parameter error: The error from SQLite.
    func databaseFailed(_ error: SQLiteError) {
        agentLog.error("database_failed", ["error": "\(error.message)", "code": "\(error.code)"])
        lastError = "database error: \(error.message)"
        observer?.statusChanged()
        if error.isInputOutput || error.isCorrupt { onFatal?(error) }
    }

    /// Notifies the observer after a short delay, once for all changes until then.
    ///
    /// This keeps a burst of notifications from becoming a burst of signals.
    func inboxChanged() {
        guard !isInboxChangeDue else { return }
        isInboxChangeDue = true
        loop.schedule(after: Self.inboxChangeDelay) { [weak self] in
            self?.isInboxChangeDue = false
            self?.observer?.inboxChanged()
        }
    }
}
