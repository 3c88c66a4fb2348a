// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Counts the frames of a client that request nothing, like the glitches of an HTTP/2 session.
///
/// Well-behaved clients reach no bound. The agent sends one ping with each batch of acknowledgements, and our messages
/// earn more pings than there can be batches; otherwise it pings once in 20 seconds. Libraries that split messages use
/// pieces of some kilobytes, and at most 64 of these fit in a message.
final class FrameBudget {
    /// The number of glitches accepted in one burst; beyond it, the connection is closed with 1008.
    static let glitchCountMax = 1000
    /// The number of glitches accepted each second without end.
    static let glitchCountPerSecond = 100
    /// The number of glitches that a ping costs, since we answer each: 20 a second are accepted without end.
    static let glitchesPerPing = 5
    /// The number of glitches that an empty frame of a message costs.
    static let glitchesPerEmptyFrame = 4
    /// The number of glitches that a pong costs, or a frame of a message that continues in another frame.
    static let glitchesPerOtherFrame = 1
    /// The number of free pings for each message that we send: a device acknowledges it several times.
    static let pingsPerMessage = 8
    /// The largest number of free pings.
    static let pingAllowanceMax = 65_536

    private static let nanosecondsPerGlitch = 1_000_000_000 / Int64(glitchCountPerSecond)

    /// The time; as long as it does not advance, nothing is refilled.
    var now = MonotonicTime.past
    /// Whether frames are counted; a client does not count the frames of its server.
    private let isCounting: Bool
    private var available = glitchCountMax
    private var refilledAt = MonotonicTime.past
    private var pingAllowance = 0

    private let metrics: WebSocketMetrics

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - isServer: Whether the peer is a client.
    ///   - metrics: The counts of the thread's connections.
    init(isServer: Bool, metrics: WebSocketMetrics) {
        isCounting = isServer
        self.metrics = metrics
    }

    /// Notes that we sent a message.
    func messageSent() { pingAllowance = min(pingAllowance + Self.pingsPerMessage, Self.pingAllowanceMax) }

    /// Counts a ping; returns false if there were too many.
    func takePing() -> Bool {
        if pingAllowance > 0 {
            pingAllowance -= 1
            return true
        }
        return take(Self.glitchesPerPing)
    }

    /// Counts the glitches of a frame; returns false if there were too many.
    func take(_ glitchCount: Int) -> Bool {
        guard isCounting, glitchCount > 0 else { return true }
        metrics.glitches.add()
        refill()
        guard glitchCount <= available else { return false }
        available -= glitchCount
        return true
    }

    private func refill() {
        guard now > refilledAt else { return }
        let count = now.nanoseconds(since: refilledAt) / Self.nanosecondsPerGlitch
        guard count < Int64(Self.glitchCountMax - available) else {
            (available, refilledAt) = (Self.glitchCountMax, now)
            return
        }
        available += Int(count)
        refilledAt = refilledAt.advanced(byNanoseconds: count * Self.nanosecondsPerGlitch)
    }
}
