// SPDX-License-Identifier: Apache-2.0

/// When to connect the stream, and when to wait.
///
/// ```
///              start                  opened
///   idle ─────────────▶ connecting ─────────────▶ open
///    ▲                    ▲  │  ▲                  │
///    │ stop          time │  │  └──── hurry ───────┤
///    │             or hurry  │ ended               │ ended
///    │                    │  ▼                     │
///    └─────────────────── waiting ◀────────────────┘
///
///   refused: the server does not know our secret; only start leaves it
/// ```
///
/// The wait is random between nothing and a ceiling that doubles from a second to a minute with each failure in a row,
/// so that devices do not come back all at once. A stream that was open for a minute was good: it begins anew.
/// What the server asks for, by `Retry-After` or a goodbye, comes before that and holds whatever else happens.
package struct StreamMachine: ~Copyable {
    /// What to do now.
    package enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Give up what there is and connect.
        case connect
        /// Come back with `timeIsUp` after this.
        case wait(Duration)
    }

    /// The ceiling of the first wait.
    package static let waitFirst: Duration = .seconds(1)
    /// The highest ceiling.
    package static let waitMax: Duration = .seconds(60)
    /// How long a stream must have been open to count as good.
    package static let goodAge: Duration = .seconds(60)
    /// A server that asks for a longer wait gets this.
    package static let retryAfterMax: Duration = .seconds(3600)

    private enum State {
        case idle
        case connecting(failureCount: Int)
        case open(failureCount: Int, sinceNanoseconds: UInt64)
        case waiting(failureCount: Int)
        case refused
    }

    private var state: State
    /// Until when the server wants to be left alone.
    private var notBeforeNanoseconds: UInt64 = 0

    /// Begins idle.
    package init() { state = .idle }

    /// Whether notifications come.
    package var isOpen: Bool {
        switch state {
        case .open: true
        case .idle, .connecting, .waiting, .refused: false
        }
    }

    /// Whether the server refused our secret.
    package var isRefused: Bool {
        switch state {
        case .refused: true
        case .idle, .connecting, .open, .waiting: false
        }
    }

    /// There is a server to connect to; `now` is monotonic.
    package mutating func start(atNanoseconds now: UInt64) -> Action {
        switch state {
        case .idle, .waiting, .refused: connectOrWait(atNanoseconds: now)
        case .connecting, .open: .none
        }
    }

    /// The server answered 200.
    package mutating func opened(atNanoseconds now: UInt64) {
        switch state {
        case .connecting(let failureCount):
            state = .open(failureCount: failureCount, sinceNanoseconds: now)
        case .idle, .open, .waiting, .refused:
            break
        }
    }

    /// The stream ended, failed, or never came about.
    ///
    /// - Parameters:
    ///   - now: Monotonic.
    ///   - fraction: Random, from 0 to 1.
    ///   - retryAfter: What the server asked for.
    /// - Returns: How long to wait.
    package mutating func ended(atNanoseconds now: UInt64, fraction: Double, retryAfter: Duration? = nil) -> Action {
        let failureCount: Int
        switch state {
        case .idle, .waiting, .refused: return .none
        case .connecting(let count): failureCount = count
        case .open(let count, let since):
            failureCount = Duration.nanoseconds(Int64(clamping: now &- since)) >= Self.goodAge ? 0 : count
        }
        state = .waiting(failureCount: failureCount + 1)
        let ceiling = min(Self.waitMax, Self.waitFirst * (1 << min(failureCount, 10)))
        let asked = min(Self.retryAfterMax, max(.zero, retryAfter ?? .zero))
        notBeforeNanoseconds = now &+ UInt64(asked / .nanoseconds(1))
        return .wait(asked + ceiling * min(max(fraction, 0), 1))
    }

    /// The wait is over.
    package mutating func timeIsUp() -> Action {
        switch state {
        case .waiting(let failureCount):
            state = .connecting(failureCount: failureCount)
            return .connect
        case .idle, .connecting, .open, .refused:
            return .none
        }
    }

    /// The network changed, or the machine woke up: what was open is dead, and waiting is pointless.
    package mutating func hurry(atNanoseconds now: UInt64) -> Action {
        switch state {
        case .connecting, .open, .waiting: connectOrWait(atNanoseconds: now)
        case .idle, .refused: .none
        }
    }

    /// The server does not know our secret: asking again would change nothing.
    package mutating func refuse() { state = .refused }

    /// There is no server any more, or no machine that could listen to it.
    package mutating func stop() { state = .idle }

    private mutating func connectOrWait(atNanoseconds now: UInt64) -> Action {
        guard now < notBeforeNanoseconds else {
            state = .connecting(failureCount: 0)
            return .connect
        }
        state = .waiting(failureCount: 0)
        return .wait(.nanoseconds(Int64(clamping: notBeforeNanoseconds - now)))
    }
}
