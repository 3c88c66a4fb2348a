// SPDX-License-Identifier: Apache-2.0

/// How far one app's webhook is: a state machine without I/O or a clock.
///
/// ```
///        due             found             taken
///  idle ─────▶ asking ─────────▶ posting ─────────▶ idle, due at once if there is more, else in a second
///    ▲            │ nothing         │ refused
///    └────────────┴─────────────────┴──▶ idle, due after a pause that doubles
/// ```
///
/// The position moves only when the back-end has taken a batch, and a batch that was refused is asked for again: so the
/// back-end gets everything in order, and after a refusal or a restart some of it twice.
struct WebhookDelivery {
    /// Between two looks into the trace.
    static let interval = Duration.seconds(1)
    /// The longest pause between two attempts.
    static let pauseMax = Duration.seconds(300)

    private enum State: Equatable {
        case idle(due: Duration)
        case asking
        /// What lies before `next` is under way.
        case posting(next: Int64, isMore: Bool)
    }

    private var state: State
    /// What lies before it in the trace, the back-end has.
    private(set) var position: Int64
    /// Attempts that failed since the last one that did not.
    private(set) var failureCount = 0

    /// Begins at a position, at once.
    init(position: Int64, now: Duration) {
        self.position = position
        state = .idle(due: now)
    }

    /// When it is to be asked again; nil while something is under way.
    var due: Duration? {
        switch state {
        case .idle(let due): due
        case .asking, .posting: nil
        }
    }

    /// idle ──▶ asking: the position to ask from, if it is time.
    mutating func begin(now: Duration) -> Int64? {
        switch state {
        case .idle(let due) where due <= now:
            state = .asking
            return position
        case .idle, .asking, .posting: return nil
        }
    }

    /// asking ──▶ posting, or idle when nothing was found.
    mutating func found(eventCount: Int, next: Int64, isMore: Bool, now: Duration) {
        switch state {
        case .asking where eventCount > 0: state = .posting(next: next, isMore: isMore)
        case .asking:
            position = max(position, next)
            state = .idle(due: now + Self.interval)
        case .idle, .posting: break
        }
    }

    /// posting ──▶ idle: the position that the back-end has reached.
    mutating func taken(now: Duration) -> Int64 {
        switch state {
        case .posting(let next, let isMore):
            position = max(position, next)
            failureCount = 0
            state = .idle(due: isMore ? now : now + Self.interval)
        case .idle, .asking: break
        }
        return position
    }

    /// asking or posting ──▶ idle for a pause: it did not work.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - share: How much of the pause is taken, 0.5 to 1, at random: many servers must not come back at the same moment.
    mutating func failed(now: Duration, share: Double) {
        let doublings = min(failureCount, 16)
        failureCount += 1
        state = .idle(due: now + min(.seconds(1 << doublings), Self.pauseMax) * share)
    }
}
