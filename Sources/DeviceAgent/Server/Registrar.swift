// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQLite

/// Receives the results of the registrar.
protocol RegistrarDelegate: AnyObject {
    /// Called when the server has the app's registration, possibly with a new device token; returns false if the
    /// registration cannot be used.
    func registrar(_ app: RegisteredApp, isRegisteredAs registration: DeviceAPI.Registration) -> Bool
    /// Called when the server refused a subscription permanently and it was removed.
    func registrar(endedSubscriptionTo channel: String, of appID: String, because error: ServerFailure)
    /// Called when the database returned an error.
    func registrar(failed error: SQLiteError)
}

/// Synchronizes the server's registrations and subscriptions with those in the database.
///
/// Sends while the stream is open, one request at a time:
///
/// 1. the due registrations
/// 2. a query for the subscriptions that the server has for them
/// 3. the subscriptions that the server lacks
///
/// A failed request is retried after a pause. Remaining work waits for the next stream or the next run.
final class Registrar {
    /// The time that a caller waits for the server's answer to a subscription before it gets `pending`.
    static let answerPatience: Duration = .seconds(10)

    private enum Work {
        case registration
        case comparison
        case subscription(Subscription)

        /// The log event of a refusal.
        var refusal: StaticString {
            switch self {
            case .registration: "not_registered_again"
            case .comparison: "subscriptions_not_compared"
            case .subscription: "subscription_refused"
            }
        }
    }

    /// The receiver of the results; not retained.
    weak var delegate: (any RegistrarDelegate)?
    /// The time of the last comparison of all registrations with the server; nil before the first one.
    var checkedUnixSeconds: Int64?

    private let database: AgentDatabase
    private let loop: EventLoop
    private let client: ServerClient
    private var isOpen = false
    private var isFlushDue = false
    /// The running request, with the app as it was when the request was sent.
    private var underWay: (work: Work, app: RegisteredApp)?
    private var pause = RetryPause()
    private var retryTimer: TimerID?
    private var dueRegistrations: [String] = []
    private var dueComparisons: [String] = []
    /// Apps that were registered again after the server did not know them; this prevents an endless loop.
    private var lostApps: Set<String> = []
    private var waiters = SubscriptionWaiters()

    /// Creates a registrar that sends nothing before `open`.
    init(_ database: AgentDatabase, loop: EventLoop, client: ServerClient) {
        self.database = database
        self.loop = loop
        self.client = client
    }

    // MARK: Due work

    /// Starts to send, because the stream is open.
    func open() {
        isOpen = true
        pause.reset()
        lostApps = []
        flush()
    }

    /// Stops sending, because the stream is closed.
    func close() {
        isOpen = false
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        waiters.dismissAll()
    }

    /// Schedules a check that the server has an app's registration and subscriptions.
    func check(_ appID: String) {
        dueRegistrations.appendOnce(appID)
        setNeedsFlush()
    }

    /// Whether a registration of the app is running, which may overwrite one that is made at the same time.
    func isRegistering(_ appID: String) -> Bool {
        guard let underWay, case .registration = underWay.work else { return false }
        return underWay.app.appID.utf8.elementsEqual(appID.utf8)
    }

    /// Schedules a flush at the end of the loop's turn, because the database has new work.
    func setNeedsFlush() {
        guard isOpen, !isFlushDue else { return }
        isFlushDue = true
        loop.atEndOfTurn { [weak self] in
            self?.isFlushDue = false
            self?.flush()
        }
    }

    /// Calls back with the outcome of a wanted subscription, or with `pending` after `answerPatience`.
    func whenKnown(_ channel: String, of appID: String, _ completion: @escaping (SubscriptionAnswer) -> Void) {
        guard isOpen, retryTimer == nil else { return completion(.pending) }
        let waiter = waiters.add(channel, appID, completion)
        loop.schedule(after: Self.answerPatience) { [weak self] in self?.waiters.dismiss(waiter) }
        setNeedsFlush()
    }

    // MARK: Requests, one at a time

    private func flush() {
        guard isOpen, underWay == nil, retryTimer == nil else { return }
        do {
            try sendNext()
        } catch {
            delegate?.registrar(failed: error)
        }
    }

    private func sendNext() throws(SQLiteError) {
        while let appID = dueRegistrations.popFirst() {
            if let app = try database.apps.app(id: appID) { return register(app) }
        }
        while let appID = dueComparisons.popFirst() {
            guard let app = try database.apps.app(id: appID), !app.deviceToken.isEmpty else { continue }
            if try !database.subscriptions.all(of: appID).isEmpty { return compare(app) }
        }
        guard let subscription = try database.subscriptions.firstPending(),
            let app = try database.apps.app(id: subscription.appID)
        else { return waiters.dismissAll() }
        tell(subscription, app)
    }

    private func register(_ app: RegisteredApp) {
        underWay = (.registration, app)
        client.register(topic: app.topic, environment: app.environment) { [weak self] result in
            self?.finish(result) { registrar, registration throws(SQLiteError) in
                guard registrar.delegate?.registrar(app, isRegisteredAs: registration) == true else { return }
                registrar.dueComparisons.appendOnce(app.appID)
            }
        }
    }

    private func compare(_ app: RegisteredApp) {
        underWay = (.comparison, app)
        client.subscriptions(topic: app.topic) { [weak self] result in
            self?.finish(result) { registrar, subscriptions throws(SQLiteError) in
                let channels = subscriptions.channels.compactMap { ChannelID(text: $0.utf8.span)?.text }
                try registrar.ifStillRegistered(app) { database throws(SQLiteError) in
                    try database.subscriptions.settle(app.appID, serverHas: channels)
                }
            }
        }
    }

    private func tell(_ subscription: Subscription, _ app: RegisteredApp) {
        underWay = (.subscription(subscription), app)
        let (channel, appID) = (subscription.channel, subscription.appID)
        if subscription.state == .unwanted {
            client.unsubscribe(topic: app.topic, channel: channel) { [weak self] result in
                self?.finish(result) { registrar, _ throws(SQLiteError) in try registrar.forget(subscription) }
            }
        } else {
            client.subscribe(topic: app.topic, channel: channel) { [weak self] result in
                self?.finish(result) { registrar, _ throws(SQLiteError) in
                    let isHeld = try registrar.ifStillRegistered(app) { database throws(SQLiteError) in
                        try database.subscriptions.hold(channel, of: appID)
                    }
                    if isHeld { registrar.waiters.answer(.held, about: subscription) }
                }
            }
        }
    }

    /// Runs `body` only if the app's registration is unchanged, because an answer about a replaced one says nothing
    /// about the current one.
    @discardableResult
    private func ifStillRegistered(
        _ app: RegisteredApp, _ body: (AgentDatabase) throws(SQLiteError) -> Void
    ) throws(SQLiteError) -> Bool {
        try database.transaction { () throws(SQLiteError) in
            guard let current = try database.apps.app(id: app.appID),
                current.deviceToken.utf8.elementsEqual(app.deviceToken.utf8)
            else { return false }
            try body(database)
            return true
        }
    }

    // MARK: Answers

    private func finish<Body>(
        _ result: Result<Body, ServerFailure>, _ settle: (Registrar, Body) throws(SQLiteError) -> Void
    ) {
        guard let (work, app) = underWay else { preconditionFailure("an answer to no request") }
        underWay = nil
        do {
            switch result {
            case .success(let body):
                pause.reset()
                try settle(self, body)
            case .failure(let error) where error.isFinal || error.word == "TooMany":
                agentLog.warning(work.refusal, ["app": app.appID, "error": error.message])
                try giveUp(work, app, error)
            case .failure(let error):
                agentLog.warning("registrar_failed", ["app": app.appID, "error": error.message])
                return tryAgain(work, app, asked: error.retryAfter)
            }
        } catch {
            delegate?.registrar(failed: error)
            return tryAgain(work, app, asked: nil)
        }
        flush()
    }

    /// Handles a permanent refusal, which a retry would not change.
    private func giveUp(_ work: Work, _ app: RegisteredApp, _ error: ServerFailure) throws(SQLiteError) {
        let isUnknown = error.word == "UnknownTopic"
        switch work {
        case .registration:
            if isUnknown { try lose(app) }
        case .comparison:
            if isUnknown { try registerOnceMore(app) }
        case .subscription(let subscription) where isUnknown && subscription.state != .unwanted:
            try registerOnceMore(app)
        case .subscription(let subscription):
            try forget(subscription)
            guard subscription.state == .wanted else { return }
            waiters.answer(.refused(error), about: subscription)
            delegate?.registrar(endedSubscriptionTo: subscription.channel, of: app.appID, because: error)
        }
    }

    /// Registers an app again that the server no longer knows, at most once per stream.
    private func registerOnceMore(_ app: RegisteredApp) throws(SQLiteError) {
        try lose(app)
        if lostApps.insert(app.appID).inserted { dueRegistrations.appendOnce(app.appID) }
    }

    private func lose(_ app: RegisteredApp) throws(SQLiteError) {
        try ifStillRegistered(app) { database throws(SQLiteError) in try database.apps.clearToken(of: app.appID) }
    }

    private func forget(_ subscription: Subscription) throws(SQLiteError) {
        _ = try database.subscriptions.remove(
            subscription.channel, of: subscription.appID, whileIn: subscription.state)
    }

    private func tryAgain(_ work: Work, _ app: RegisteredApp, asked: Duration?) {
        switch work {
        case .registration: dueRegistrations.appendOnce(app.appID)
        case .comparison: dueComparisons.appendOnce(app.appID)
        case .subscription: break
        }
        waiters.dismissAll()
        guard isOpen, retryTimer == nil else { return }
        retryTimer = loop.schedule(after: pause.next(asked: asked)) { [weak self] in
            self?.retryTimer = nil
            self?.flush()
        }
    }
}

extension [String] {
    /// Appends a text unless an equal one is present, compared byte for byte.
    fileprivate mutating func appendOnce(_ text: String) {
        if !contains(where: { $0.utf8.elementsEqual(text.utf8) }) { append(text) }
    }

    fileprivate mutating func popFirst() -> String? { isEmpty ? nil : removeFirst() }
}

extension ServerFailure {
    /// The server's error word; nil if the error is not a refusal.
    var word: String? {
        guard case .refused(_, let word, _, _) = self else { return nil }
        return word
    }
}
