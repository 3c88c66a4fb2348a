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
    /// It ended, with why, for the status line; never an alert.
    func streamEnded(_ reason: String)
    /// The server does not know our secret; the stream stays closed.
    func streamRefused(_ reason: String)
}

/// Keeps one stream open, `GET /v1/stream`, for the notifications of all apps.
package final class StreamClient {
    /// The server sends at least a comment every 20 seconds; after this long without a byte the connection is dead.
    package static let silenceMax: Duration = .seconds(45)

    /// Gets what the stream brings.
    package weak var delegate: (any StreamClientDelegate)?

    private let loop: EventLoop
    private let session: ServerSession
    private let silenceMax: Duration
    private let random: () -> Double
    private var machine = StreamMachine()
    private var transfer: TransferID?
    private var parser = EventStreamParser()
    private var isAnswered = false
    private var retryAfter: Duration?
    /// Why the server ends the stream, once it said so.
    private var goodbye: String?
    private var lastByteNanoseconds: UInt64 = 0
    private var silenceTimer: TimerID?
    private var waitTimer: TimerID?
    private var hasFailed = false

    /// Connects to nothing yet; randomness and patience are parameters for tests.
    package init(
        loop: EventLoop, session: ServerSession, silenceMax: Duration = StreamClient.silenceMax,
        random: @escaping () -> Double = { Double.random(in: 0...1) }
    ) {
        self.loop = loop
        self.session = session
        self.silenceMax = silenceMax
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
        giveUpConnection()
        perform(action)
    }

    /// Closes the stream for good.
    package func stop() {
        machine.stop()
        closeTransfer()
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
        closeTransfer()
        if let waitTimer { loop.cancel(waitTimer) }
        waitTimer = nil
        parser = EventStreamParser()
        isAnswered = false
        retryAfter = nil
        goodbye = nil
        lastByteNanoseconds = loop.monotonicNanoseconds
        var request = session.client.request("GET", "/v1/stream")
        request.fields.append(("accept", "text/event-stream"))
        request.timeout = nil
        // After a failure the connection that libcurl still has may be the one that failed.
        request.needsFreshConnection = hasFailed
        transfer = session.curl.start(
            request, onHead: { [weak self] in self?.receive(head: $0) }, onBody: { [weak self] in self?.receive($0) }
        ) { [weak self] in self?.finish($0) }
        watchSilence(for: silenceMax)
    }

    // MARK: What comes

    private func receive(head: HTTPResponse) {
        lastByteNanoseconds = loop.monotonicNanoseconds
        retryAfter = head.value(of: "retry-after").flatMap { Int64($0) }.map { .seconds(min(max($0, 0), 86_400)) }
        let type = head.value(of: "content-type") ?? ""
        guard head.status == 200, type.utf8.starts(with: "text/event-stream".utf8) else { return }
        isAnswered = true
        hasFailed = false
        machine.opened(atNanoseconds: loop.monotonicNanoseconds)
        delegate?.streamOpened()
    }

    private func receive(_ bytes: Span<UInt8>) {
        lastByteNanoseconds = loop.monotonicNanoseconds
        guard isAnswered else { return }
        var arrivals: [Arrival] = []
        var isReadable = true
        do {
            try parser.receive(bytes) { event in
                if let arrival = take(event) { arrivals.append(arrival) }
            }
        } catch {
            isReadable = false
        }
        if !arrivals.isEmpty, delegate?.streamReceived(arrivals) != true {
            return fail("what came could not be written")
        }
        if !isReadable { fail("the server sent an event that is too long") }
    }

    private func take(_ event: EventStreamEvent) -> Arrival? {
        guard case .event(let name, let id, let data) = event else { return nil }
        switch name {
        case NotificationEvent.name:
            do {
                return .notification(try NotificationEvent.decode(data: data))
            } catch {
                agentLog.warning("notification_unreadable", ["error": "\(error)", "id": id])
                return Int64(id).map { .unreadable(sequence: $0) }
            }
        case "goodbye":
            let body = try? JSONValue(parsing: data.span)
            retryAfter = body?["retry_after"]?.integer.map { .seconds(min(max($0, 0), 86_400)) }
            goodbye = body?["reason"]?.string ?? ""
            agentLog.info("server_says_goodbye", ["reason": goodbye ?? ""])
            return nil
        default:
            // Events that later servers may send.
            return nil
        }
    }

    // MARK: How it ends

    private func finish(_ result: Result<HTTPResponse, CurlError>) {
        transfer = nil
        switch result {
        case .failure(let error): ended(error.message)
        case .success(let response) where response.status == 401: refused()
        case .success where isAnswered && goodbye == "removed": refused()
        case .success where isAnswered:
            ended(goodbye.map { "the server ended the stream: \($0)" } ?? "the server closed the stream")
        case .success(let response): ended("the server answered \(response.status) to the request for the stream")
        }
    }

    private func refused() {
        cancelSilenceWatch()
        machine.refuse()
        delegate?.streamRefused("the server does not know this device any more: leave it and enrol again")
    }

    /// Ends it from our side.
    private func fail(_ reason: String) {
        giveUpConnection()
        ended(reason)
    }

    private func ended(_ reason: String) {
        closeTransfer()
        hasFailed = true
        let action = machine.ended(
            atNanoseconds: loop.monotonicNanoseconds, fraction: random(), retryAfter: retryAfter)
        guard action != .none else { return }
        delegate?.streamEnded(reason)
        perform(action)
    }

    private func giveUpConnection() {
        closeTransfer()
        hasFailed = true
        // Requests that wait on it fail as well, and are tried again: they would hang with it.
        session.curl.abandonConnections()
    }

    private func closeTransfer() {
        cancelSilenceWatch()
        if let transfer { session.curl.cancel(transfer) }
        transfer = nil
    }

    // MARK: Silence

    private func watchSilence(for duration: Duration) {
        silenceTimer = loop.schedule(after: duration) { [weak self] in self?.checkSilence() }
    }

    private func checkSilence() {
        silenceTimer = nil
        let silence = Duration.nanoseconds(Int64(clamping: loop.monotonicNanoseconds &- lastByteNanoseconds))
        guard silence >= silenceMax else { return watchSilence(for: silenceMax - silence) }
        fail("the connection is dead: nothing came for \(silenceMax.components.seconds) s")
    }

    private func cancelSilenceWatch() {
        if let silenceTimer { loop.cancel(silenceTimer) }
        silenceTimer = nil
    }
}
