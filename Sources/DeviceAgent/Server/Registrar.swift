// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushNet
package import PushSQLite

/// Gets what the registrar found out.
package protocol RegistrarDelegate: AnyObject {
    /// The server has the app's registration, perhaps with another device token; false when that cannot be used.
    func registrar(_ app: RegisteredApp, isRegisteredAs registration: DeviceAPI.Registration) -> Bool
    /// The server refused a subscription for good; it is gone.
    func registrar(endedSubscriptionTo channel: String, of appID: String, because error: ServerError)
    /// The database refused.
    func registrar(failed error: SQLiteError)
}

/// Keeps registrations and subscriptions at the server as the database says that they should be.
///
/// Sends while the stream is open, one request at a time: first the registrations that are due, then a look at what
/// the server has of their subscriptions, then the subscriptions that it does not know of. What fails is tried again
/// after a pause; what is not done stays for the next stream or the next run.
package final class Registrar {
    /// How long somebody who subscribed waits for the server before the answer is `pending`.
    package static let answerPatience: Duration = .seconds(10)

    private enum Work {
        case registration
        case comparison
        case subscription(Subscription)

        /// What the log calls its refusal.
        var refusal: StaticString {
            switch self {
            case .registration: "not_registered_again"
            case .comparison: "subscriptions_not_compared"
            case .subscription: "subscription_refused"
            }
        }
    }

    /// Gets what comes out.
    package weak var delegate: (any RegistrarDelegate)?

    private let database: AgentDatabase
    private let loop: EventLoop
    private let client: ServerClient
    private var isOpen = false
    private var isFlushDue = false
    /// The request that is on its way, with the app as it was when it went.
    private var underWay: (work: Work, app: RegisteredApp)?
    private var pause = RetryPause()
    private var retryTimer: TimerID?
    private var dueRegistrations: [String] = []
    private var dueComparisons: [String] = []
    /// Apps that were registered once more because the server did not know them, so that this has an end.
    private var lostApps: Set<String> = []
    private var waiters = SubscriptionWaiters()

    /// Sends nothing before `open`.
    package init(_ database: AgentDatabase, loop: EventLoop, client: ServerClient) {
        self.database = database
        self.loop = loop
        self.client = client
    }

    // MARK: What there is to do

    /// The stream is open.
    package func open() {
        isOpen = true
        pause.reset()
        lostApps = []
        flush()
    }

    /// The stream is closed.
    package func close() {
        isOpen = false
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        waiters.dismissAll()
    }

    /// Makes sure, soon, that the server has an app's registration and subscriptions.
    package func check(_ appID: String) {
        dueRegistrations.appendOnce(appID)
        setNeedsFlush()
    }

    /// Whether a registration of the app is on its way, which may undo one that is made beside it.
    package func isRegistering(_ appID: String) -> Bool {
        guard let underWay, case .registration = underWay.work else { return false }
        return underWay.app.appID.utf8.elementsEqual(appID.utf8)
    }

    /// There is something new in the database: sends at the end of the loop's turn.
    package func setNeedsFlush() {
        guard isOpen, !isFlushDue else { return }
        isFlushDue = true
        loop.atEndOfTurn { [weak self] in
            self?.isFlushDue = false
            self?.flush()
        }
    }

    /// Calls back once it is known what became of a wanted subscription, or after `answerPatience`.
    package func whenKnown(_ channel: String, of appID: String, _ completion: @escaping (SubscriptionAnswer) -> Void) {
        guard isOpen, retryTimer == nil else { return completion(.pending) }
        let waiter = waiters.add(channel, appID, completion)
        loop.schedule(after: Self.answerPatience) { [weak self] in self?.waiters.dismiss(waiter) }
        setNeedsFlush()
    }

    // MARK: One after the other

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

    /// An answer about a registration that was replaced meanwhile says nothing about the one of now.
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
        _ result: Result<Body, ServerError>, _ settle: (Registrar, Body) throws(SQLiteError) -> Void
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

    /// The same request would be refused again.
    private func giveUp(_ work: Work, _ app: RegisteredApp, _ error: ServerError) throws(SQLiteError) {
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

    /// The server lost the registration, and may take it anew; it is asked once for each stream.
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
    /// Appends what is not there yet, byte for byte.
    fileprivate mutating func appendOnce(_ text: String) {
        if !contains(where: { $0.utf8.elementsEqual(text.utf8) }) { append(text) }
    }

    fileprivate mutating func popFirst() -> String? { isEmpty ? nil : removeFirst() }
}

extension ServerError {
    /// The server's word for why it refused; nil when it did not.
    var word: String? {
        guard case .refused(_, let word, _, _) = self else { return nil }
        return word
    }
}
