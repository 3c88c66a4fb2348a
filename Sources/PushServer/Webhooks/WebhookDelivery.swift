// SPDX-License-Identifier: Apache-2.0

/// The delivery state of one app's webhook: a state machine without I/O or a clock.
///
/// ```
///        due             found             taken
///  idle ─────▶ asking ─────────▶ posting ─────────▶ idle, due at once if there is more, else in a second
///    ▲            │ nothing         │ refused
///    └────────────┴─────────────────┴──▶ idle, due after a pause that doubles
/// ```
///
/// The position moves only when the back-end has accepted a batch, and a refused batch is queried again. The back-end
/// therefore receives everything in order, and some events twice after a refusal or a restart.
struct WebhookDelivery {
    /// The interval between two queries of the trace.
    static let interval = Duration.seconds(1)
    /// The maximum pause between two attempts.
    static let pauseMax = Duration.seconds(300)

    private enum State: Equatable {
        case idle(due: Duration)
        case asking
        /// The events before `next` are being sent.
        case posting(next: Int64, isMore: Bool)
    }

    private var state: State
    /// The position in the trace before which the back-end has received everything.
    private(set) var position: Int64
    /// The number of failed attempts since the last success.
    private(set) var failureCount = 0
    /// The last time at which the back-end had received everything, or the creation.
    private var currentAt: Duration
    /// Whether the back-end had received everything at the last query.
    private var isCurrent = true

    /// Creates a delivery at a position, due immediately.
    init(position: Int64, now: Duration) {
        self.position = position
        state = .idle(due: now)
        currentAt = now
    }

    /// The time since which the back-end has not received everything; nil if it had at the last query.
    var behindSince: Duration? { isCurrent ? nil : currentAt }

    /// The time of the next query; nil while a query or a request is under way.
    var due: Duration? {
        switch state {
        case .idle(let due): due
        case .asking, .posting: nil
        }
    }

    /// Changes from idle to asking and returns the position to query from, if the query is due.
    mutating func begin(now: Duration) -> Int64? {
        switch state {
        case .idle(let due) where due <= now:
            state = .asking
            return position
        case .idle, .asking, .posting: return nil
        }
    }

    /// Changes from asking to posting, or to idle if nothing was found.
    mutating func found(eventCount: Int, next: Int64, isMore: Bool, now: Duration) {
        switch state {
        case .asking where eventCount > 0:
            isCurrent = false
            state = .posting(next: next, isMore: isMore)
        case .asking:
            position = max(position, next)
            noteCurrent(now: now, isMore: isMore)
            state = .idle(due: now + Self.interval)
        case .idle, .posting: break
        }
    }

    /// Changes from posting to idle and returns the position that the back-end has reached.
    mutating func taken(now: Duration) -> Int64 {
        switch state {
        case .posting(let next, let isMore):
            position = max(position, next)
            failureCount = 0
            noteCurrent(now: now, isMore: isMore)
            state = .idle(due: isMore ? now : now + Self.interval)
        case .idle, .asking: break
        }
        return position
    }

    /// Changes from asking or posting to idle for a pause, after a failure.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - fraction: The random fraction of the pause, 0.5 to 1, so that many servers do not retry at the same moment.
    mutating func failed(now: Duration, fraction: Double) {
        let doublings = min(failureCount, 16)
        failureCount += 1
        isCurrent = false
        state = .idle(due: now + min(.seconds(1 << doublings), Self.pauseMax) * fraction)
    }

    private mutating func noteCurrent(now: Duration, isMore: Bool) {
        guard !isMore else { return }
        isCurrent = true
        currentAt = now
    }
}
