// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushCurl
package import PushNet

/// Gets what the stream brings.
package protocol StreamClientDelegate: AnyObject {
    /// Notifications came; false when they could not be written: the stream is given up and they come again.
    func streamReceived(_ arrivals: [Arrival]) -> Bool
    /// It opened.
    func streamOpened()
    /// The server's policies have a version.
    func streamTold(policyVersion: Int64)
    /// It ended, with why, for the status line; never an alert.
    func streamEnded(_ reason: String)
    /// The server does not know our secret; the stream stays closed.
    func streamRefused(_ reason: String)
}

/// Carries acknowledgements on a connection that is open anyway.
protocol AcknowledgementCarrier: AnyObject {
    /// Sends a batch; false where it has to go another way, and then `completion` is not called.
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], completion: @escaping (Result<Void, ServerError>) -> Void
    ) -> Bool
}

/// Keeps one stream open, `GET /v1/stream`, for the notifications of all apps.
///
/// Over WebSocket where that works. Where it does not, as server-sent events, and that for a while: asking in vain costs a
/// connection each time.
package final class StreamClient {
    /// How long connections are made without asking for a WebSocket that there was not.
    package static let eventsPeriod: Duration = .seconds(600)
    /// So many WebSockets in a row that break before anything came are a proxy that lets none through.
    private static let brokenCountMax = 2
    /// A connection that is being made gets so long before a change of the network ends it.
    private static let hurryPause: Duration = .seconds(3)

    /// Gets what the stream brings.
    package weak var delegate: (any StreamClientDelegate)?

    private let loop: EventLoop
    private let session: ServerSession
    private let form: StreamForm
    private let random: () -> Double
    private var machine = StreamMachine()
    private var attempt: (any StreamAttempt)?
    private var retryAfter: Duration?
    /// Why the server ends the stream, once it said so.
    private var goodbye: String?
    private var pulse: Pulse
    private var pulseTimer: TimerID?
    private var connectingSinceNanoseconds: UInt64 = 0
    private var waitTimer: TimerID?
    private var hasFailed = false
    private var eventsSinceNanoseconds: UInt64?
    private var brokenCount = 0

    /// Connects to nothing yet; randomness and patience are parameters for tests.
    package init(
        loop: EventLoop, session: ServerSession, form: StreamForm = .auto, pulse: Pulse = Pulse(),
        random: @escaping () -> Double = { Double.random(in: 0...1) }
    ) {
        self.loop = loop
        self.session = session
        self.form = form
        self.pulse = pulse
        self.random = random
    }

    /// Whether the machine saves power: then a quiet connection is asked less often whether it lives.
    package var savesPower: Bool {
        get { pulse.savesPower }
        set {
            pulse.savesPower = newValue
            if attempt != nil { watchPulse() }
        }
    }

    /// Whether notifications come.
    package var isOpen: Bool { machine.isOpen }
    /// When it connects again; monotonic; nil while it waits for nothing.
    package private(set) var connectsAtNanoseconds: UInt64?
    /// Whether the server refused our secret.
    package var isRefused: Bool { machine.isRefused }

    /// Connects, and connects again whenever that ends.
    package func start() { perform(machine.start(atNanoseconds: loop.monotonicNanoseconds)) }

    /// Addresses or routes changed: connects anew where the connection cannot have survived that, else asks it.
    package func networkChanged() {
        if machine.isOpen, attempt?.path != .other {
            if !pulse.isAsked { _ = attempt?.ask() }
            return
        }
        pulse.networkChanged()
        // Many changes in a row must not keep a connection from being made.
        guard attempt == nil || machine.isOpen || elapsed(since: connectingSinceNanoseconds) > Self.hurryPause else {
            return
        }
        hurry("the network changed")
    }

    /// Says goodbye, and waits for `wake`: the machine is about to sleep.
    package func sleep() {
        guard !machine.isRefused else { return }
        let wasOpen = machine.isOpen
        stop()
        // What is pooled would be dead afterwards.
        session.curl.abandonConnections()
        if wasOpen { delegate?.streamEnded("the machine slept") }
    }

    /// Connects at once, unless the server asked for a pause: the machine woke up.
    package func wake() {
        guard !machine.isRefused else { return }
        let action = machine.start(atNanoseconds: loop.monotonicNanoseconds)
        // Awake already, or it slept without notice: what is open is dead.
        if action == .none { hurry("the machine slept") } else { perform(action) }
    }

    private func hurry(_ reason: String) {
        let wasOpen = machine.isOpen
        let action = machine.hurry(atNanoseconds: loop.monotonicNanoseconds)
        guard action != .none else { return }
        // Another network may have no proxy that is in the way.
        eventsSinceNanoseconds = nil
        giveUpConnection()
        if wasOpen { delegate?.streamEnded(reason) }
        perform(action)
    }

    /// Closes the stream for good.
    package func stop() {
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
            connectsAtNanoseconds = loop.monotonicNanoseconds &+ UInt64(duration / .nanoseconds(1))
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
        connectingSinceNanoseconds = loop.monotonicNanoseconds
        let attempt = makeAttempt()
        attempt.delegate = self
        self.attempt = attempt
        attempt.begin()
        pulse.connecting(atNanoseconds: loop.monotonicNanoseconds)
        watchPulse()
    }

    private func cancelWait() {
        if let waitTimer { loop.cancel(waitTimer) }
        waitTimer = nil
        connectsAtNanoseconds = nil
    }

    private func makeAttempt() -> any StreamAttempt {
        if let since = eventsSinceNanoseconds, elapsed(since: since) >= Self.eventsPeriod {
            eventsSinceNanoseconds = nil
        }
        if form == .websocket || form == .auto && eventsSinceNanoseconds == nil {
            return WebSocketAttempt(session, loop: loop)
        }
        return EventStreamAttempt(session, needsFreshConnection: hasFailed)
    }

    // MARK: How it ends

    private func refused() {
        closeAttempt()
        machine.refuse()
        delegate?.streamRefused(
            "This device was removed from the server. Run 'posthorn agent unenrol', then enrol again.")
    }

    /// Ends it from our side.
    private func fail(_ reason: String) {
        giveUpConnection()
        ended(reason)
    }

    private func ended(_ reason: String) {
        closeAttempt()
        hasFailed = true
        if goodbye == nil { pulse.ended(atNanoseconds: loop.monotonicNanoseconds) }
        let action = machine.ended(
            atNanoseconds: loop.monotonicNanoseconds, fraction: random(), retryAfter: retryAfter)
        guard action != .none else { return }
        delegate?.streamEnded(reason)
        perform(action)
    }

    /// Asks for server-sent events, at once and for a while.
    private func fallBack(_ reason: String) {
        guard form == .auto else { return ended("the stream does not come over WebSocket: \(reason)") }
        agentLog.info("websocket_unsupported", ["reason": reason])
        eventsSinceNanoseconds = loop.monotonicNanoseconds
        brokenCount = 0
        connect()
    }

    private func giveUpConnection() {
        closeAttempt()
        hasFailed = true
        // Requests that wait on it fail as well, and are tried again: they would hang with it.
        session.curl.abandonConnections()
    }

    private func closeAttempt() {
        cancelPulse()
        attempt?.cancel()
        attempt = nil
    }

    // MARK: The pulse

    /// Comes back when there is something to do, and not before: each time wakes the machine.
    private func watchPulse() {
        cancelPulse()
        switch pulse.next(atNanoseconds: loop.monotonicNanoseconds) {
        case .wait(let duration):
            pulseTimer = loop.schedule(after: duration) { [weak self] in self?.watchPulse() }
        case .ask:
            guard attempt?.ask() != true else { return }
            preconditionFailure("an open stream that promised answers does not take a question")
        case .dead(let silence):
            if attempt?.isProven == false { brokenCount += 1 }
            fail("the connection is dead: nothing came for \(silence.components.seconds) s")
        }
    }

    private func cancelPulse() {
        if let pulseTimer { loop.cancel(pulseTimer) }
        pulseTimer = nil
    }

    private func elapsed(since nanoseconds: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: loop.monotonicNanoseconds &- nanoseconds))
    }
}

// MARK: What comes

extension StreamClient: StreamAttemptDelegate {
    func attemptHeard() {
        let wasAsked = pulse.isAsked
        pulse.heard(atNanoseconds: loop.monotonicNanoseconds)
        if wasAsked { watchPulse() }
        if attempt?.isProven == true { brokenCount = 0 }
    }

    func attemptAsked() {
        pulse.asked(atNanoseconds: loop.monotonicNanoseconds)
        watchPulse()
    }

    func attemptOpened(heartbeat: String?) {
        hasFailed = false
        if attempt is WebSocketAttempt {
            pulse.opened(atNanoseconds: loop.monotonicNanoseconds)
        } else {
            pulse.opened(
                withHeartbeatsEvery: Heartbeat.interval(heartbeat), atNanoseconds: loop.monotonicNanoseconds)
        }
        watchPulse()
        machine.opened(atNanoseconds: loop.monotonicNanoseconds)
        delegate?.streamOpened()
    }

    func attemptReceived(_ arrivals: [Arrival]) {
        if delegate?.streamReceived(arrivals) != true { fail("what came could not be written") }
    }

    func attemptHeard(_ notice: PolicyNotice) { delegate?.streamTold(policyVersion: notice.version) }

    func attemptHeard(_ goodbye: StreamGoodbye) {
        retryAfter = goodbye.retryAfterSeconds.map { min(.seconds(max($0, 0)), StreamMachine.retryAfterMax) }
        // Once is enough, however often it says so.
        if self.goodbye == nil { agentLog.info("server_says_goodbye", ["reason": goodbye.reason]) }
        self.goodbye = goodbye.reason
    }

    func attemptEnded(_ ending: StreamEnding) {
        switch ending {
        case .unauthorized: refused()
        case .closed where goodbye == "removed": refused()
        case .closed: ended(goodbye.map { "the server ended the stream: \($0)" } ?? "the server closed the stream")
        case .unsupported(let reason): fallBack(reason)
        case .broken(let reason):
            brokenCount += 1
            if brokenCount < Self.brokenCountMax { ended(reason) } else { fallBack(reason) }
        case .refused(let status, let retryAfter):
            self.retryAfter = RetryPause.parse(retryAfter, nowUnixSeconds: WallClock.unixMilliseconds() / 1000)
            ended("the server answered \(status) to the request for the stream")
        case .failed(let reason): ended(reason)
        }
    }
}

extension StreamClient: AcknowledgementCarrier {
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], completion: @escaping (Result<Void, ServerError>) -> Void
    ) -> Bool {
        (attempt as? WebSocketAttempt)?.acknowledge(acknowledgements, completion: completion) ?? false
    }
}
