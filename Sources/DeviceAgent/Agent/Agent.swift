// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushNet
package import PushSQLite

/// Gets what the agent's clients want to hear of.
package protocol AgentObserver: AnyObject {
    /// An app has another device token.
    func tokenChanged(appID: String, deviceToken: String)
    /// Another number is on an app's icon.
    func badgeChanged(appID: String, count: UInt32)
    /// Switches changed; of no app: the master switch.
    func settingsChanged(appID: String)
    /// The server ended or refused an app's subscription to a channel, with its word for why.
    func subscriptionEnded(appID: String, channel: String, reason: String)
    /// A notification came, and has an entry in the inbox; what becomes of it follows.
    func notificationArrived(entry: Int64)
    /// Entries came, changed or went.
    func inboxChanged()
    /// Other alerts wait for an answer in the panel than before.
    func alertsChanged()
    /// The connection opened or ended, or an error or a notice came or went; or it may have.
    func statusChanged()
}

/// The device agent: owns the database and the connection, and joins receiving, deciding and presenting.
///
/// One thread, that of its loop. Nothing of it blocks but SQLite's commits.
package final class Agent {
    /// Gets what clients want to hear of.
    package weak var observer: (any AgentObserver)?
    /// Called when the disk can no longer be trusted; the process must end, and acknowledge nothing more.
    package var onFatal: ((SQLiteError) -> Void)?
    /// Whether the machine saves power: the server then gathers what has no haste, and the connection is asked less often
    /// whether it lives.
    package var savesPower = false {
        didSet {
            link?.stream.savesPower = savesPower
            link?.uplink.savesPower = savesPower
        }
    }

    let loop: EventLoop
    let database: AgentDatabase
    let secretFile: SecretFile
    let authorityFile: AuthorityFile
    let surroundings: Surroundings
    let streamForm: StreamForm
    let access: ServerAccess
    let receiver: Receiver
    let presentations: PresentationQueue
    let wakes: BackgroundWakes
    let filters: FilterQueue
    /// What persons did with alerts while the disk was full.
    let answers: StorageRetry
    /// The entries of these.
    var unwrittenAnswers: Set<Int64> = []
    var identity: Identity?
    var link: Link?
    var serverClock = ServerClock()
    var connectedSinceUnixSeconds: Int64?
    var lastConnectedUnixSeconds: Int64?
    var lastError = ""
    /// The server does not know this device any more; what an enrolment ends.
    var isRemoved = false
    var isEnrolling = false
    /// When the enrolment by `agent.ini` is tried again; monotonic.
    var enrolmentDueNanoseconds: UInt64?
    /// When all registrations were last compared with the server's; nil before the first time at this server.
    var checkedUnixSeconds: Int64?
    /// Subscriptions that the server ended, until somebody asks for them anew or gives them up.
    var endedSubscriptions: [EndedSubscription] = []
    private static let trimInterval: Duration = .seconds(3600)
    /// After which a start, or notifications that came together, are over.
    private static let burstDuration: Duration = .seconds(30)
    private var isMemoryDue = false
    /// The policies are about to be asked for.
    var isPolicyDue = false
    private var isInboxChangeDue = false
    var isAlertsChangeDue = false
    private static let inboxChangeDelay: Duration = .milliseconds(50)

    /// What exists while the device is enrolled.
    struct Link {
        let session: ServerSession
        let stream: StreamClient
        let uplink: Uplink
        let registrar: Registrar
    }

    /// Opens nothing yet but takes what there is.
    package init(
        loop: EventLoop, database: AgentDatabase, secretFile: SecretFile, authorityFile: AuthorityFile,
        surroundings: Surroundings,
        streamForm: StreamForm = .auto, access: ServerAccess = ServerAccess()
    ) {
        self.loop = loop
        self.access = access
        self.streamForm = streamForm
        self.database = database
        self.secretFile = secretFile
        self.authorityFile = authorityFile
        self.surroundings = surroundings
        receiver = Receiver(database, desk: surroundings.desk, texts: surroundings.texts)
        wakes = BackgroundWakes(database, loop: loop)
        answers = StorageRetry(loop: loop)
        filters = FilterQueue(database, loop: loop, filter: surroundings.filter, texts: surroundings.texts) {
            () throws(SQLiteError) in
            try database.settings.circumstances(
                nowUnixMilliseconds: WallClock.unixMilliseconds(), desk: surroundings.desk())
        }
        presentations = PresentationQueue(
            database, loop: loop, presenter: surroundings.presenter, hooks: surroundings.hooks,
            sounds: surroundings.sounds, desk: surroundings.desk, texts: surroundings.texts)
        presentations.knowsSounds = surroundings.knowsSounds
    }

    /// Takes up what an earlier run left, shows badges, and connects if the device is enrolled.
    package func start() throws(StorageError) {
        surroundings.presenter?.delegate = self
        surroundings.panel?.onChange = { [weak self] in self?.alertsChanged() }
        surroundings.hooks?.onFailure = { [weak self] entry, text in self?.note(text, on: entry) }
        joinFilters()
        answers.onFailure = { [weak self] in self?.databaseFailed($0) }
        wakes.start = { [weak self] in self?.wake($0, $1) ?? false }
        wakes.onFailure = { [weak self] in self?.databaseFailed($0) }
        presentations.onFailure = { [weak self] in self?.databaseFailed($0) }
        presentations.onChange = { [weak self] in self?.inboxChanged() }
        presentations.onOutcome = { [weak self] in self?.link?.uplink.setNeedsFlush() }
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
            lastError = "the device secret is lost: leave the server and enrol again"
            return agentLog.error("secret_missing", ["server": identity.serverURL])
        }
        connect(identity, secret: secret)
    }

    /// Sends what the outbox still has, within a bound, then calls back; the stream is closed.
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
        link.uplink.whenEmpty(end)
    }

    /// Addresses or routes changed, or the network came back.
    package func networkChanged() { link?.stream.networkChanged() }

    /// The machine is about to sleep.
    package func sleep() { link?.stream.sleep() }

    /// The machine woke up.
    package func wake() { link?.stream.wake() }

    // MARK: The connection

    func connect(_ identity: Identity, secret: String) {
        let session = ServerSession(
            loop: loop, url: identity.serverURL, caFile: identity.caFile, secret: secret, access: access)
        let uplink = Uplink(database, loop: loop, client: session.client)
        uplink.onFailure = { [weak self] in self?.databaseFailed($0) }
        uplink.savesPower = savesPower
        let stream = StreamClient(loop: loop, session: session, form: streamForm)
        stream.delegate = self
        stream.savesPower = savesPower
        uplink.carrier = stream
        let registrar = Registrar(database, loop: loop, client: session.client)
        registrar.delegate = self
        link = Link(session: session, stream: stream, uplink: uplink, registrar: registrar)
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
        link.uplink.close()
        link.registrar.close()
        noteDisconnected()
        self.link = nil
    }

    func noteDisconnected() {
        guard connectedSinceUnixSeconds != nil else { return }
        connectedSinceUnixSeconds = nil
        noteLastConnected(atUnixSeconds: WallClock.unixMilliseconds() / 1000)
    }

    /// Written when the connection opens, too, and with what else is: nobody is told of the end of an agent that is killed.
    func noteLastConnected(atUnixSeconds now: Int64) {
        lastConnectedUnixSeconds = now
        do {
            try database.facts.set(.lastConnectedUnixSeconds, to: now)
        } catch {
            databaseFailed(error)
        }
    }

    /// Old notifications go even while no new ones come.
    private func trimInboxRepeatedly() {
        trimInbox()
        giveMemoryBackSoon()
        loop.schedule(after: Self.trimInterval) { [weak self] in self?.trimInboxRepeatedly() }
    }

    /// What a start or many notifications at once needed goes back to the system when they are over.
    func giveMemoryBackSoon() {
        guard !isMemoryDue else { return }
        isMemoryDue = true
        loop.schedule(after: Self.burstDuration) { [weak self] in
            self?.isMemoryDue = false
            Heap.trim()
            ProgramText.release()
        }
    }

    // MARK: Shared by the topics

    /// Acknowledging over a disk that fails would lose notifications: only a full one may be waited for.
    func databaseFailed(_ error: SQLiteError) {
        agentLog.error("database_failed", ["error": "\(error.message)", "code": "\(error.code)"])
        lastError = "the agent's database refused: \(error.message)"
        observer?.statusChanged()
        if error.isInputOutput || error.isCorrupt { onFatal?(error) }
    }

    /// Tells the observer soon, once for all that changes until then: a flood of notifications is no flood of signals.
    func inboxChanged() {
        guard !isInboxChangeDue else { return }
        isInboxChangeDue = true
        loop.schedule(after: Self.inboxChangeDelay) { [weak self] in
            self?.isInboxChangeDue = false
            self?.observer?.inboxChanged()
        }
    }
}
