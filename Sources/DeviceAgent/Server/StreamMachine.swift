// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Decides when to connect the stream and how long to wait.
///
/// ```
///              start                  opened
///   idle ─────────────▶ connecting ─────────────▶ open
///    ▲                    ▲  │  ▲                  │
///    │ stop          time │  │  └─ reconnectNow ───┤
///    │       or reconnectNow │ ended               │ ended
///    │                    │  ▼                     │
///    └─────────────────── waiting ◀────────────────┘
///
///   refused: the server does not know the device's secret; only `start` leaves this state
/// ```
///
/// The wait is random between zero and a ceiling, so that devices do not reconnect all at the same time. The ceiling
/// starts at one second and doubles with each failure in a row, up to a minute. A stream that was open for a few
/// seconds resets it, and so does a server that ends the stream with a goodbye, because it will be back soon. A pause
/// that the server requests, with `Retry-After` or a goodbye, is added in front and cannot be shortened. A refusal with
/// `Retry-After: 0` says that another node of the cluster takes the device. Such a refusal is not a failure, unless
/// many come in a row.
struct StreamMachine: ~Copyable {
    /// The next step for the caller.
    enum Action: Equatable, Sendable {
        /// Do nothing for now.
        case none
        /// Drop the present connection, if any, and connect.
        case connect
        /// Call `timeIsUp` after this time.
        case wait(Duration)
    }

    /// The ceiling of the first wait, before any failure.
    static let waitFirst: Duration = .seconds(1)
    /// The maximum of the ceiling.
    static let waitMax: Duration = .seconds(60)
    /// The ceiling of the wait after a refusal with `Retry-After: 0`.
    static let otherNodeWait: Duration = .milliseconds(250)
    /// The maximum number of refusals with `Retry-After: 0` in a row that do not count as failures.
    static let otherNodeCountMax = 8
    /// The age at which an open stream resets the failure count.
    static let goodAge: Duration = .seconds(5)
    /// The maximum pause that a server can request.
    static let retryAfterMax: Duration = .seconds(3600)
    /// The maximum pause after an answer from a server that this device does not trust.
    static let distrustPause: Duration = .seconds(900)

    private enum State {
        case idle
        case connecting(failureCount: Int)
        case open(failureCount: Int, since: MonotonicTime)
        case waiting(failureCount: Int)
        case refused
    }

    private var state: State
    /// The end of the pause that the server requested.
    private var notBefore = MonotonicTime.past
    /// The number of refusals with `Retry-After: 0` since the last open stream.
    private var otherNodeCount = 0

    /// Creates a machine in the idle state.
    init() { state = .idle }

    /// Whether the stream is open.
    var isOpen: Bool {
        switch state {
        case .open: true
        case .idle, .connecting, .waiting, .refused: false
        }
    }

    /// Whether the server refused the device's secret.
    var isRefused: Bool {
        switch state {
        case .refused: true
        case .idle, .connecting, .open, .waiting: false
        }
    }

    /// Starts to connect to a server.
    mutating func start(at now: MonotonicTime) -> Action {
        switch state {
        case .idle, .waiting, .refused: connectOrWait(at: now)
        case .connecting, .open: .none
        }
    }

    /// Records that the server answered 200.
    mutating func opened(at now: MonotonicTime) {
        switch state {
        case .connecting(let failureCount):
            state = .open(failureCount: failureCount, since: now)
            otherNodeCount = 0
        case .idle, .open, .waiting, .refused:
            break
        }
    }

    /// Records that the stream ended, failed, or could not be opened.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - fraction: A random number from 0 to 1.
    ///   - retryAfter: The pause that the server requested.
    ///   - isGoodbye: Whether the server ended the stream on purpose and expects the device again.
    /// - Returns: The time to wait.
    mutating func ended(
        at now: MonotonicTime, fraction: Double, retryAfter: Duration? = nil, isGoodbye: Bool = false
    ) -> Action {
        let failureCount: Int
        switch state {
        case .idle, .waiting, .refused: return .none
        case .connecting(let count):
            if retryAfter == .zero, otherNodeCount < Self.otherNodeCountMax {
                otherNodeCount += 1
                state = .waiting(failureCount: count)
                return .wait(Self.otherNodeWait * min(max(fraction, 0), 1))
            }
            failureCount = count
        case .open(let count, let since):
            failureCount = isGoodbye || now.duration(since: since) >= Self.goodAge ? 0 : count
        }
        state = .waiting(failureCount: failureCount + 1)
        let ceiling = min(Self.waitMax, Self.waitFirst * (1 << min(failureCount, 10)))
        let asked = min(Self.retryAfterMax, max(.zero, retryAfter ?? .zero))
        notBefore = now.advanced(by: asked)
        return .wait(asked + ceiling * min(max(fraction, 0), 1))
    }

    /// Records an answer from an untrusted server.
    ///
    /// An early retry would get the same answer.
    ///
    /// A network change or a resume ends the long pause, because a captive portal may have answered.
    ///
    /// - Parameter fraction: A random number from 0 to 1.
    /// - Returns: The time to wait, half of `distrustPause` or more.
    mutating func distrusted(fraction: Double) -> Action {
        switch state {
        case .idle, .waiting, .refused: return .none
        case .connecting, .open: state = .waiting(failureCount: 0)
        }
        return .wait(Self.distrustPause * ((1 + min(max(fraction, 0), 1)) / 2))
    }

    /// Ends the wait.
    mutating func timeIsUp() -> Action {
        switch state {
        case .waiting(let failureCount):
            state = .connecting(failureCount: failureCount)
            return .connect
        case .idle, .connecting, .open, .refused:
            return .none
        }
    }

    /// Skips the wait and drops an open stream after a network change or a resume, unless the server requested a pause.
    mutating func reconnectNow(at now: MonotonicTime) -> Action {
        switch state {
        case .connecting, .open, .waiting: connectOrWait(at: now)
        case .idle, .refused: .none
        }
    }

    /// Stops because the server does not know the device's secret; another attempt would be refused too.
    mutating func refuse() { state = .refused }

    /// Stops because there is no server any more, or because the machine suspends.
    mutating func stop() { state = .idle }

    private mutating func connectOrWait(at now: MonotonicTime) -> Action {
        guard now < notBefore else {
            state = .connecting(failureCount: 0)
            return .connect
        }
        state = .waiting(failureCount: 0)
        return .wait(notBefore.duration(since: now))
    }
}
