// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
package import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
package import PushSQL

/// The device agent: builds and connects the services that receive, decide and present.
///
/// It runs on the loop's thread. Only SQLite's commits block.
package final class Agent {
    package let enrolment: EnrolmentService
    package let registrations: RegistrationService
    package let installations: InstallationService
    package let subscriptions: SubscriptionService
    package let inbox: InboxService
    package let alerts: AlertService
    let openings: OpeningService
    let authorities: AuthorityService
    package let settings: SettingService
    package let sounds: SoundService
    package let badges: BadgeService
    package let reminders: ReminderService

    package var observer: (any AgentObserver)? {
        get { changes.observer }
        set { changes.observer = newValue }
    }
    /// Called when the disk can no longer be trusted; the process must end without acknowledging anything more.
    package var onFatal: ((SQLError) -> Void)? {
        get { failures.onFatal }
        set { failures.onFatal = newValue }
    }
    /// Whether the machine saves power.
    ///
    /// The server then batches notifications that are not urgent, and keepalives are sent less often.
    package var savesPower: Bool {
        get { link.savesPower }
        set { link.savesPower = newValue }
    }
    /// The time of the next enrolment attempt with the values of `agent.ini`.
    var enrolmentDue: MonotonicTime?

    let loop: EventLoop
    let environment: AgentEnvironment
    let link: ServerLink
    private let database: AgentDatabase
    private let secretFile: SecretFile
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let presentations: PresentationQueue
    private let policy: PolicyService
    private let wakes: BackgroundLauncher
    private static let trimInterval: Duration = .seconds(3600)
    /// The time after which a start, or a burst of notifications, is over.
    private static let burstDuration: Duration = .seconds(30)
    private var isMemoryDue = false

    /// Creates the agent; it opens no connection before `start`.
    init(
        loop: EventLoop, database: AgentDatabase, secretFile: SecretFile, authorityFile: EnrolledAuthority,
        environment: AgentEnvironment, streamForm: StreamForm = .auto, access: ServerAccess = ServerAccess(),
        configuredTrust: TrustStore.Configuration = .init()
    ) {
        (self.loop, self.database, self.secretFile, self.environment) = (loop, database, secretFile, environment)
        changes = ChangeNotifier(loop: loop)
        failures = DatabaseFailures()
        let trustStore = TrustStore(database, authorityFile, configuredTrust)
        link = ServerLink(
            loop: loop, database, changes, failures, form: streamForm, access: access, trustStore: trustStore)
        badges = BadgeService(database, environment.badges, changes)
        presentations = PresentationQueue(
            database, loop: loop, presenter: environment.presenter, hooks: environment.hooks,
            sounds: environment.sounds, currentDesktopState: environment.currentDesktopState, texts: environment.texts)
        presentations.knowsSounds = environment.knowsSounds
        presentations.linkSchemes = environment.linkSchemes
        let context = AgentContext(
            loop: loop, database: database, environment: environment, changes: changes, failures: failures, link: link,
            presentations: presentations, badges: badges)
        wakes = BackgroundLauncher(database, loop: loop)
        let answers = AnswerService(context)
        inbox = InboxService(context, wakes)
        openings = OpeningService(context, inbox, answers)
        alerts = AlertService(context, answers, openings)
        reminders = ReminderService(context, inbox, alerts)
        sounds = SoundService(context)
        settings = SettingService(context, inbox, alerts, sounds)
        policy = PolicyService(context, settings)
        subscriptions = SubscriptionService(context)
        registrations = RegistrationService(context, subscriptions)
        installations = InstallationService(context, registrations)
        authorities = AuthorityService(context)
        enrolment = EnrolmentService(context, secretFile, authorityFile, subscriptions, settings)
        wire()
    }

    /// Connects the parts that report to each other.
    private func wire() {
        link.registrarDelegate = registrations
        link.onArrivals = { [weak inbox] in inbox?.receive($0, serverNow: $1) ?? false }
        link.onOpen = { [weak registrations, weak installations] now in
            registrations?.check(now: now)
            installations?.check(now: now)
        }
        link.onNotice = { [weak policy, weak authorities] notice in
            switch notice.kind {
            case .policy: policy?.serverAnnounced(version: notice.version)
            case .authorities: authorities?.serverAnnounced(version: notice.version)
            }
        }
        registrations.onForgotten = { [weak inbox] in inbox?.deleteUnusedPictures() }
        inbox.onBurst = { [weak self] in self?.trimMemorySoon() }
        wakes.start = { [weak openings] in openings?.wake($0, $1) ?? false }
        wakes.onFailure = { [failures] in failures.report($0) }
        presentations.onFailure = { [failures] in failures.report($0) }
        presentations.onChange = { [changes] in changes.inboxChanged() }
        presentations.onOutcome = { [link] in link.setNeedsFlush() }
        environment.presenter?.delegate = alerts
        environment.presenter?.muter = settings
        environment.panel?.onChange = { [changes] in changes.alertsChanged() }
        environment.hooks?.onFailure = { [weak inbox] entry, text in inbox?.note(text, on: entry) }
    }

    /// Resumes the work of an earlier run, shows badges, and connects if the device is enrolled.
    package func start() throws(StorageError) {
        do {
            try link.load()
            try badges.presentAll()
            try presentations.resume()
            try inbox.resume()
            reminders.resume()
        } catch {
            throw .opening(database.path, error)
        }
        defer { installations.start() }
        trimInboxRepeatedly()
        guard let identity = link.identity else { return }
        guard let secret = try secretFile.read() else {
            link.report(
                .init(
                    .secretLost, "The device secret is lost. Run 'posthorn agent unenrol --local', then enrol again."))
            return agentLog.error("secret_missing", ["server": identity.serverURL])
        }
        link.connect(identity, secret: secret)
    }

    /// Sends the rest of the outbox for at most `timeout`, closes the stream, then calls back.
    package func stop(within timeout: Duration = .seconds(2), completion: @escaping () -> Void) {
        var hasEnded = false
        let end: () -> Void = { [weak self] in
            guard !hasEnded else { return }
            hasEnded = true
            self?.link.disconnect()
            completion()
        }
        guard let clients = link.clients else { return end() }
        loop.schedule(after: timeout, end)
        clients.outboxSender.whenEmpty(end)
    }

    /// Reports that addresses or routes have changed, or that the network is back.
    package func networkChanged() { link.clients?.stream.networkChanged() }

    /// Reports that the machine is about to sleep.
    package func sleep() { link.clients?.stream.sleep() }

    /// Reports that the machine has woken up.
    package func wake() { link.clients?.stream.wake() }

    /// Trims the inbox once an hour, so that old entries expire while no new ones arrive.
    private func trimInboxRepeatedly() {
        inbox.trim()
        trimMemorySoon()
        loop.schedule(after: Self.trimInterval) { [weak self] in self?.trimInboxRepeatedly() }
    }

    /// Returns unused memory to the system when a start or a burst of notifications is over.
    private func trimMemorySoon() {
        guard !isMemoryDue else { return }
        isMemoryDue = true
        loop.schedule(after: Self.burstDuration) { [weak self] in
            self?.isMemoryDue = false
            Heap.trim()
        }
    }
}
