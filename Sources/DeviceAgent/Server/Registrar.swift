// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Receives the results of the registrar.
protocol RegistrarDelegate: AnyObject {
    /// Called when the server has the app's registration, possibly with a new device token; returns false if the
    /// registration cannot be used.
    func registrar(_ app: RegisteredApp, isRegisteredAs registration: DeviceAPI.Registration) -> Bool
    /// Called when the server refused a subscription permanently and it was removed.
    func registrar(endedSubscriptionTo channel: String, of appID: AppID, because error: ServerFailure)
    /// Called when the database returned an error.
    func registrar(failed error: SQLError)
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
    static let firstAnswerTimeout: Duration = .seconds(10)

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

    /// The server's positive answer to a request.
    private enum Answer {
        case registered(DeviceAPI.Registration)
        /// The channels that the server has subscriptions to.
        case channels([String])
        case done
    }

    /// The receiver of the results; not retained.
    weak var delegate: (any RegistrarDelegate)?
    /// The time of the last comparison of all registrations with the server; nil before the first one.
    var checkedAt: Timestamp?

    private let database: AgentDatabase
    private let loop: EventLoop
    private let client: ServerClient
    private var isOpen = false
    private var isFlushDue = false
    /// The running request, with the app as it was when the request was sent.
    private var underWay: (work: Work, app: RegisteredApp)?
    private var pause = RetryPause()
    private var retryTimer: TimerID?
    private var dueRegistrations: [AppID] = []
    private var dueComparisons: [AppID] = []
    /// Apps that were registered again after the server did not know them; this prevents an endless loop.
    private var lostApps: Set<AppID> = []
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
    func check(_ appID: AppID) {
        dueRegistrations.appendOnce(appID)
        setNeedsFlush()
    }

    /// Returns whether a registration of the app is running, which may overwrite one that is made at the same time.
    func isRegistering(_ appID: AppID) -> Bool {
        guard let underWay, case .registration = underWay.work else { return false }
        return underWay.app.appID == appID
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

    /// Waits for the outcome of a requested subscription; returns `pending` after `firstAnswerTimeout`.
    func answer(about channel: String, of appID: AppID) async -> SubscriptionAnswer {
        guard isOpen, retryTimer == nil else { return .pending }
        return await withCheckedContinuation { continuation in
            let waiter = waiters.add(channel, appID) { continuation.resume(returning: $0) }
            loop.schedule(after: Self.firstAnswerTimeout) { [weak self] in self?.waiters.dismiss(waiter) }
            setNeedsFlush()
        }
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

    private func sendNext() throws(SQLError) {
        guard let (work, app) = try next() else { return waiters.dismissAll() }
        underWay = (work, app)
        loop.startTask { [weak self, client] in
            let result = await Result { () async throws(ServerFailure) in
                try await Self.request(work, of: app, from: client)
            }
            self?.finish(result)
        }
    }

    /// Returns the next due work and its app.
    private func next() throws(SQLError) -> (Work, RegisteredApp)? {
        while let appID = dueRegistrations.popFirst() {
            if let app = try database.apps.app(id: appID) { return (.registration, app) }
        }
        while let appID = dueComparisons.popFirst() {
            guard let app = try database.apps.app(id: appID), !app.deviceToken.isEmpty else { continue }
            if try !database.subscriptions.all(of: appID).isEmpty { return (.comparison, app) }
        }
        guard let subscription = try database.subscriptions.firstPending(),
            let app = try database.apps.app(id: subscription.appID)
        else { return nil }
        return (.subscription(subscription), app)
    }

    private static func request(
        _ work: Work, of app: RegisteredApp, from client: ServerClient
    ) async throws(ServerFailure) -> Answer {
        switch work {
        case .registration:
            return .registered(try await client.register(topic: app.topic, environment: app.environment))
        case .comparison:
            return .channels(try await client.subscriptions(topic: app.topic).channels)
        case .subscription(let subscription) where subscription.state == .ending:
            try await client.unsubscribe(topic: app.topic, channel: subscription.channel)
        case .subscription(let subscription):
            try await client.subscribe(topic: app.topic, channel: subscription.channel)
        }
        return .done
    }

    /// Runs `body` only if the app's registration is unchanged, because an answer about a replaced one says nothing
    /// about the current one.
    @discardableResult
    private func ifStillRegistered(
        _ app: RegisteredApp, _ body: (AgentDatabase) throws(SQLError) -> Void
    ) throws(SQLError) -> Bool {
        try database.transaction { () throws(SQLError) in
            guard let current = try database.apps.app(id: app.appID),
                current.deviceToken.utf8.elementsEqual(app.deviceToken.utf8)
            else { return false }
            try body(database)
            return true
        }
    }

    // MARK: Answers

    private func finish(_ result: Result<Answer, ServerFailure>) {
        guard let (work, app) = underWay else {
            preconditionFailure("an answer arrived although no request is running")
        }
        underWay = nil
        do {
            switch result {
            case .success(let answer):
                pause.reset()
                try store(answer, to: work, of: app)
            case .failure(let error) where error.isFinal || error.word == "TooMany":
                agentLog.warning(work.refusal, ["app": app.appID.text, "error": error.message])
                try giveUp(work, app, error)
            case .failure(let error):
                agentLog.warning("registrar_failed", ["app": app.appID.text, "error": error.message])
                return tryAgain(work, app, asked: error.retryAfter)
            }
        } catch {
            delegate?.registrar(failed: error)
            return tryAgain(work, app, asked: nil)
        }
        flush()
    }

    private func store(_ answer: Answer, to work: Work, of app: RegisteredApp) throws(SQLError) {
        switch (answer, work) {
        case (.registered(let registration), _):
            guard delegate?.registrar(app, isRegisteredAs: registration) == true else { return }
            dueComparisons.appendOnce(app.appID)
        case (.channels(let texts), _):
            let channels = texts.compactMap { ChannelID(text: $0.utf8.span)?.text }
            try ifStillRegistered(app) { database throws(SQLError) in
                try database.subscriptions.settle(app.appID, serverHas: channels)
            }
        case (.done, .subscription(let subscription)) where subscription.state == .ending:
            try forget(subscription)
        case (.done, .subscription(let subscription)):
            let isConfirmed = try ifStillRegistered(app) { database throws(SQLError) in
                try database.subscriptions.confirm(subscription.channel, of: app.appID)
            }
            if isConfirmed { waiters.answer(.active, about: subscription) }
        case (.done, _): break
        }
    }

    /// Handles a permanent refusal, which a retry would not change.
    private func giveUp(_ work: Work, _ app: RegisteredApp, _ error: ServerFailure) throws(SQLError) {
        let isUnknown = error.word == "UnknownTopic"
        switch work {
        case .registration:
            if isUnknown { try lose(app) }
        case .comparison:
            if isUnknown { try registerOnceMore(app) }
        case .subscription(let subscription) where isUnknown && subscription.state != .ending:
            try registerOnceMore(app)
        case .subscription(let subscription):
            try forget(subscription)
            guard subscription.state == .requested else { return }
            waiters.answer(.refused(error), about: subscription)
            delegate?.registrar(endedSubscriptionTo: subscription.channel, of: app.appID, because: error)
        }
    }

    /// Registers an app again that the server no longer knows, at most once per stream.
    private func registerOnceMore(_ app: RegisteredApp) throws(SQLError) {
        try lose(app)
        if lostApps.insert(app.appID).inserted { dueRegistrations.appendOnce(app.appID) }
    }

    private func lose(_ app: RegisteredApp) throws(SQLError) {
        try ifStillRegistered(app) { database throws(SQLError) in try database.apps.clearToken(of: app.appID) }
    }

    private func forget(_ subscription: Subscription) throws(SQLError) {
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

extension [AppID] {
    /// Appends an app unless it is present.
    fileprivate mutating func appendOnce(_ appID: AppID) {
        if !contains(appID) { append(appID) }
    }

    fileprivate mutating func popFirst() -> AppID? { isEmpty ? nil : removeFirst() }
}

extension ServerFailure {
    /// The server's error word; nil if the error is not a refusal.
    var word: String? {
        guard case .refused(_, let word, _, _) = self else { return nil }
        return word
    }
}
