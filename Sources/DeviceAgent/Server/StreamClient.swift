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

    /// Gets what the stream brings.
    package weak var delegate: (any StreamClientDelegate)?

    private let loop: EventLoop
    private let session: ServerSession
    private let form: StreamForm
    private let fixedSilenceMax: Duration?
    /// After so long without a byte the connection is dead.
    private var silenceMax = Heartbeat.silenceMax(nil)
    private let random: () -> Double
    private var machine = StreamMachine()
    private var attempt: (any StreamAttempt)?
    private var retryAfter: Duration?
    /// Why the server ends the stream, once it said so.
    private var goodbye: String?
    private var lastByteNanoseconds: UInt64 = 0
    private var silenceTimer: TimerID?
    private var waitTimer: TimerID?
    private var hasFailed = false
    private var eventsSinceNanoseconds: UInt64?
    private var brokenCount = 0

    /// Connects to nothing yet; randomness and patience are parameters for tests.
    package init(
        loop: EventLoop, session: ServerSession, form: StreamForm = .auto,
        silenceMax: Duration? = nil, random: @escaping () -> Double = { Double.random(in: 0...1) }
    ) {
        self.loop = loop
        self.session = session
        self.form = form
        fixedSilenceMax = silenceMax
        self.random = random
    }

    /// Whether notifications come.
    package var isOpen: Bool { machine.isOpen }
    /// Whether the server refused our secret.
    package var isRefused: Bool { machine.isRefused }

    /// Connects, and connects again whenever that ends.
    package func start() { perform(machine.start()) }

    /// Connects anew at once: the network came back, or the machine woke up.
    package func hurry() {
        let action = machine.hurry()
        guard action == .connect else { return }
        // Another network may have no proxy that is in the way.
        eventsSinceNanoseconds = nil
        giveUpConnection()
        perform(action)
    }

    /// Closes the stream for good.
    package func stop() {
        machine.stop()
        closeAttempt()
        if let waitTimer { loop.cancel(waitTimer) }
        waitTimer = nil
    }

    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .none: break
        case .connect: connect()
        case .wait(let duration):
            waitTimer = loop.schedule(after: duration) { [weak self] in
                guard let self else { return }
                waitTimer = nil
                perform(machine.timeIsUp())
            }
        }
    }

    private func connect() {
        closeAttempt()
        if let waitTimer { loop.cancel(waitTimer) }
        waitTimer = nil
        retryAfter = nil
        goodbye = nil
        lastByteNanoseconds = loop.monotonicNanoseconds
        let attempt = makeAttempt()
        attempt.delegate = self
        self.attempt = attempt
        attempt.begin()
        silenceMax = fixedSilenceMax ?? Heartbeat.silenceMax(nil)
        watchSilence(for: silenceMax)
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
        delegate?.streamRefused("the server does not know this device any more: leave it and enrol again")
    }

    /// Ends it from our side.
    private func fail(_ reason: String) {
        giveUpConnection()
        ended(reason)
    }

    private func ended(_ reason: String) {
        closeAttempt()
        hasFailed = true
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
        cancelSilenceWatch()
        attempt?.cancel()
        attempt = nil
    }

    // MARK: Silence

    private func watchSilence(for duration: Duration) {
        silenceTimer = loop.schedule(after: duration) { [weak self] in self?.checkSilence() }
    }

    private func checkSilence() {
        silenceTimer = nil
        let silence = elapsed(since: lastByteNanoseconds)
        guard silence >= silenceMax else { return watchSilence(for: silenceMax - silence) }
        if attempt?.isProven == false { brokenCount += 1 }
        fail("the connection is dead: nothing came for \(silenceMax.components.seconds) s")
    }

    private func cancelSilenceWatch() {
        if let silenceTimer { loop.cancel(silenceTimer) }
        silenceTimer = nil
    }

    private func elapsed(since nanoseconds: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: loop.monotonicNanoseconds &- nanoseconds))
    }
}

// MARK: What comes

extension StreamClient: StreamAttemptDelegate {
    func attemptHeard() {
        lastByteNanoseconds = loop.monotonicNanoseconds
        if attempt?.isProven == true { brokenCount = 0 }
    }

    func attemptOpened(heartbeat: String?) {
        hasFailed = false
        silenceMax = fixedSilenceMax ?? Heartbeat.silenceMax(heartbeat)
        machine.opened(atNanoseconds: loop.monotonicNanoseconds)
        delegate?.streamOpened()
    }

    func attemptReceived(_ arrivals: [Arrival]) {
        if delegate?.streamReceived(arrivals) != true { fail("what came could not be written") }
    }

    func attemptHeard(_ notice: PolicyNotice) { delegate?.streamTold(policyVersion: notice.version) }

    func attemptHeard(_ goodbye: StreamGoodbye) {
        retryAfter = goodbye.retryAfterSeconds.map { .seconds(min(max($0, 0), 86_400)) }
        self.goodbye = goodbye.reason
        agentLog.info("server_says_goodbye", ["reason": goodbye.reason])
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
            self.retryAfter = retryAfter.flatMap { Int64($0) }.map { .seconds(min(max($0, 0), 86_400)) }
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
