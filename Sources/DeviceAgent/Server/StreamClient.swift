// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushCurl
internal import PushNet

/// Receives the events of the stream.
protocol StreamClientDelegate: AnyObject {
    /// Called when notifications arrive; returns false if they could not be stored, and then the stream is closed and
    /// they come again.
    func streamReceived(_ arrivals: [Arrival]) -> Bool
    /// Called when the stream has opened.
    func streamOpened()
    /// Called when the server announces the version of its policies or of its authorities.
    func streamTold(_ notice: VersionNotice)
    /// Called when the stream has ended, with the reason for the status line; this never causes an alert.
    func streamEnded(_ failure: ConnectionFailure)
    /// Called when the server does not know the device's secret; the stream stays closed.
    func streamRefused(_ reason: String)
}

/// Sends acknowledgements on a connection that is already open.
protocol AcknowledgementCarrier: AnyObject {
    /// Sends a batch; returns false, without calling `completion`, if it must be sent another way.
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], completion: @escaping (Result<Void, ServerFailure>) -> Void
    ) -> Bool
}

/// Keeps one stream open, `GET /v1/stream`, for the notifications of all apps.
///
/// Uses WebSocket where it works. Elsewhere, uses server-sent events for a while before it tries WebSocket again,
/// because each failed try costs a connection.
final class StreamClient {
    /// The time without another try after WebSocket failed.
    static let eventsPeriod: Duration = .seconds(600)
    /// The number of WebSocket connections in a row that break before any data arrives until a proxy is assumed to
    /// block them.
    private static let brokenCountMax = 2
    /// The age that a connection attempt must have before a network change ends it.
    private static let hurryPause: Duration = .seconds(3)

    /// The receiver of the stream's events; not retained.
    weak var delegate: (any StreamClientDelegate)?

    private let loop: EventLoop
    private let session: ServerSession
    private let form: StreamForm
    private let random: () -> Double
    private var machine = StreamMachine()
    private var attempt: (any StreamAttempt)?
    private var retryAfter: Duration?
    /// The server's reason for ending the stream, once it has sent one.
    private var goodbye: String?
    private var keepalive: KeepaliveMonitor
    private var keepaliveTimer: TimerID?
    private var connectingSince = MonotonicTime.past
    private var waitTimer: TimerID?
    private var hasFailed = false
    private var eventsSince: MonotonicTime?
    private var brokenCount = 0

    /// Creates a client that does not connect yet; `keepalive` and `random` are parameters for tests.
    init(
        loop: EventLoop, session: ServerSession, form: StreamForm = .auto,
        keepalive: KeepaliveMonitor = KeepaliveMonitor(),
        random: @escaping () -> Double = { Double.random(in: 0...1) }
    ) {
        self.loop = loop
        self.session = session
        self.form = form
        self.keepalive = keepalive
        self.random = random
    }

    /// Whether the machine saves power; if so, the client pings a quiet connection less often.
    var savesPower: Bool {
        get { keepalive.savesPower }
        set {
            keepalive.savesPower = newValue
            if attempt != nil { scheduleKeepaliveCheck() }
        }
    }

    /// Whether the stream is open.
    var isOpen: Bool { machine.isOpen }
    /// The time of the next connection; nil while none is scheduled.
    private(set) var connectsAt: MonotonicTime?
    /// Whether the server refused the device's secret.
    var isRefused: Bool { machine.isRefused }

    /// Connects, and reconnects each time the stream ends.
    func start() { perform(machine.start(at: loop.now)) }

    /// Handles a change of addresses or routes: reconnects if the connection cannot have survived it, otherwise pings.
    func networkChanged() {
        if machine.isOpen, attempt?.path != .other {
            if !keepalive.awaitsAnswer { _ = attempt?.ping() }
            return
        }
        keepalive.networkChanged()
        // Many changes in a row must not keep a connection from being established.
        guard attempt == nil || machine.isOpen || elapsed(since: connectingSince) > Self.hurryPause else {
            return
        }
        reconnectNow("the network changed")
    }

    /// Says goodbye before the machine suspends, and stays closed until `wake`.
    func sleep() {
        guard !machine.isRefused else { return }
        let wasOpen = machine.isOpen
        stop()
        // Pooled connections would be dead after the suspension.
        session.curl.abandonConnections()
        if wasOpen { delegate?.streamEnded(.init(.none, "the machine was suspended")) }
    }

    /// Connects immediately after the machine resumes, unless the server requested a pause.
    func wake() {
        guard !machine.isRefused else { return }
        let action = machine.start(at: loop.now)
        // The machine did not sleep, or it slept without notice; an open connection counts as dead.
        if action == .none { reconnectNow("the machine was suspended") } else { perform(action) }
    }

    /// Connects now, unless the stream is open.
    func retry() {
        if !machine.isOpen { reconnectNow("the trusted authorities changed") }
    }

    private func reconnectNow(_ reason: String) {
        let wasOpen = machine.isOpen
        let action = machine.reconnectNow(at: loop.now)
        guard action != .none else { return }
        // Another network may have no proxy that blocks WebSocket.
        eventsSince = nil
        giveUpConnection()
        if wasOpen { delegate?.streamEnded(.init(.none, reason)) }
        perform(action)
    }

    /// Closes the stream permanently.
    func stop() {
        machine.stop()
        closeAttempt()
        cancelWait()
    }

    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .none: break
        case .connect: connect()
        case .wait(let duration):
            cancelWait()
            connectsAt = loop.now.advanced(by: duration)
            waitTimer = loop.schedule(after: duration) { [weak self] in
                guard let self else { return }
                cancelWait()
                perform(machine.timeIsUp())
            }
        }
    }

    private func connect() {
        closeAttempt()
        cancelWait()
        retryAfter = nil
        goodbye = nil
        connectingSince = loop.now
        let attempt = makeAttempt()
        attempt.delegate = self
        self.attempt = attempt
        attempt.begin()
        keepalive.connecting(at: loop.now)
        scheduleKeepaliveCheck()
    }

    private func cancelWait() {
        if let waitTimer { loop.cancel(waitTimer) }
        waitTimer = nil
        connectsAt = nil
    }

    private func makeAttempt() -> any StreamAttempt {
        if let since = eventsSince, elapsed(since: since) >= Self.eventsPeriod {
            eventsSince = nil
        }
        if form == .websocket || form == .auto && eventsSince == nil {
            return WebSocketAttempt(session, loop: loop)
        }
        return EventStreamAttempt(session, needsFreshConnection: hasFailed)
    }

    // MARK: Ending

    private func refused() {
        closeAttempt()
        machine.refuse()
        delegate?.streamRefused(
            "This device was removed from the server. Run 'posthorn agent unenrol', then enrol again.")
    }

    /// Ends the stream from this side.
    private func fail(_ problem: ConnectionProblem, _ text: String) {
        giveUpConnection()
        ended(.init(problem, text))
    }

    private func ended(_ failure: ConnectionFailure) {
        closeAttempt()
        hasFailed = true
        if goodbye == nil { keepalive.ended(at: loop.now) }
        let action =
            failure.problem == .wrongServer
            ? machine.distrusted(fraction: random())
            : machine.ended(
                at: loop.now, fraction: random(), retryAfter: retryAfter,
                // If another device uses the same secret, the two must not replace each other's streams in a loop.
                isGoodbye: goodbye.map { !$0.utf8.elementsEqual("replaced".utf8) } ?? false)
        guard action != .none else { return }
        delegate?.streamEnded(failure)
        perform(action)
    }

    /// Switches to server-sent events, immediately and for `eventsPeriod`.
    private func fallBack(_ reason: String) {
        guard form == .auto else {
            return ended(
                .init(
                    .configuration,
                    "the WebSocket connection failed: \(reason). Set stream to auto or events in agent.ini."))
        }
        agentLog.info("websocket_unsupported", ["reason": reason])
        eventsSince = loop.now
        brokenCount = 0
        connect()
    }

    private func giveUpConnection() {
        closeAttempt()
        hasFailed = true
        // Requests on the same connection would hang too, so they fail now and are retried.
        session.curl.abandonConnections()
    }

    private func closeAttempt() {
        cancelKeepaliveCheck()
        attempt?.cancel()
        attempt = nil
    }

    // MARK: Keepalive

    /// Schedules the next check as late as possible, because each timer wakes the machine.
    private func scheduleKeepaliveCheck() {
        cancelKeepaliveCheck()
        switch keepalive.next(at: loop.now) {
        case .wait(let duration):
            keepaliveTimer = loop.schedule(after: duration) { [weak self] in self?.scheduleKeepaliveCheck() }
        case .ping:
            guard attempt?.ping() != true else { return }
            preconditionFailure("the open WebSocket did not accept a ping")
        case .dead(let silence):
            if attempt?.isProven == false { brokenCount += 1 }
            fail(.unreachable, "the server sent nothing for \(silence.components.seconds) s; reconnecting")
        }
    }

    private func cancelKeepaliveCheck() {
        if let keepaliveTimer { loop.cancel(keepaliveTimer) }
        keepaliveTimer = nil
    }

    private func elapsed(since moment: MonotonicTime) -> Duration { loop.now.duration(since: moment) }
}

// MARK: Events

extension StreamClient: StreamAttemptDelegate {
    func attemptReceivedData() {
        let awaitedAnswer = keepalive.awaitsAnswer
        keepalive.received(at: loop.now)
        if awaitedAnswer { scheduleKeepaliveCheck() }
        if attempt?.isProven == true { brokenCount = 0 }
    }

    func attemptExpectsAnswer() {
        keepalive.expectAnswer(at: loop.now)
        scheduleKeepaliveCheck()
    }

    func attemptOpened(heartbeat: String?) {
        hasFailed = false
        if attempt is WebSocketAttempt {
            keepalive.opened(at: loop.now)
        } else {
            keepalive.opened(
                withHeartbeatsEvery: Heartbeat.interval(heartbeat), at: loop.now)
        }
        scheduleKeepaliveCheck()
        machine.opened(at: loop.now)
        delegate?.streamOpened()
    }

    func attemptReceived(_ arrivals: [Arrival]) {
        if delegate?.streamReceived(arrivals) != true { fail(.storage, "notifications could not be stored") }
    }

    func attemptReceived(_ notice: VersionNotice) { delegate?.streamTold(notice) }

    func attemptReceived(_ goodbye: StreamGoodbye) {
        retryAfter = goodbye.retryAfterSeconds.map { min(.seconds(max($0, 0)), StreamMachine.retryAfterMax) }
        // One log line is enough, even if the server repeats its goodbye.
        if self.goodbye == nil { agentLog.info("server_says_goodbye", ["reason": goodbye.reason]) }
        self.goodbye = goodbye.reason
    }

    func attemptEnded(_ ending: StreamEnding) {
        switch ending {
        case .unauthorized: refused()
        case .closed where goodbye == "removed": refused()
        case .closed:
            ended(
                .init(.server, goodbye.map { "the server ended the stream: \($0)" } ?? "the server closed the stream"))
        case .unsupported(let reason): fallBack(reason)
        case .broken(let reason):
            brokenCount += 1
            if brokenCount < Self.brokenCountMax { ended(.init(.server, reason)) } else { fallBack(reason) }
        case .refused(let status, let retryAfter):
            self.retryAfter = RetryPause.parse(retryAfter, now: .now)
            ended(.init(.server, "the server answered \(status) to the request for the stream"))
        case .failed(let failure): ended(failure)
        }
    }
}

extension StreamClient: AcknowledgementCarrier {
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], completion: @escaping (Result<Void, ServerFailure>) -> Void
    ) -> Bool {
        (attempt as? WebSocketAttempt)?.acknowledge(acknowledgements, completion: completion) ?? false
    }
}
