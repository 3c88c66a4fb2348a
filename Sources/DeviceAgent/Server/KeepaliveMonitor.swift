// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Decides when to ping a quiet connection and when to consider it dead.
///
/// The monitor has no clock; its caller passes the time.
///
/// ```
///            interval over                  data arrived
///  quiet ───────────────────▶ pinged ────────────────────▶ quiet
///    ▲        or doubt          │ no answer in time
///    └── data arrived           └───────────────────────▶ dead
/// ```
///
/// The interval and the answer timeout add up to 28 seconds, so a dead link is detected within half a minute.
///
/// While the machine saves power, pings are rarer. The interval doubles while answers come, up to four minutes. A
/// connection that breaks while it is idle was probably dropped by a NAT gateway or firewall after its own idle
/// timeout. The longest interval is then half of the one that failed, until the network changes.
///
/// The agent cannot ping before the stream is open, nor over server-sent events. There it waits for the server's
/// heartbeat.
struct KeepaliveMonitor: Sendable {
    /// The next step for the caller.
    enum Action: Equatable, Sendable {
        /// Call `next` again after this time, or when an answer arrives.
        case wait(Duration)
        /// Send a ping and report it with `expectAnswer`.
        case ping
        /// Drop the connection, because nothing arrived for this time.
        case dead(Duration)
    }

    /// The number of answers in a row after which a longer interval is tried.
    private static let goodCountMin = 3
    /// The ratio of the longest interval to the shortest.
    private static let growthMax = 12

    /// Whether to ping as rarely as the network allows.
    var savesPower = false

    private let shortest: Duration
    private let answerTimeout: Duration
    private var proven: Duration
    private var longest: Duration
    private var goodCount = 0
    private var listening = Listening.forHeartbeats(every: .zero)
    private var receivedAt = MonotonicTime.past
    private var pingedAt: MonotonicTime?

    private enum Listening {
        case forHeartbeats(every: Duration)
        case forAnswers
    }

    /// Creates a monitor for a network whose idle timeout is unknown.
    ///
    /// - Parameters:
    ///   - shortest: The time from the last received data to the ping, unless power is saved.
    ///   - answerTimeout: The time to wait for the answer.
    init(shortest: Duration = .seconds(20), answerTimeout: Duration = .seconds(8)) {
        self.shortest = shortest
        self.answerTimeout = answerTimeout
        proven = shortest
        longest = shortest * Self.growthMax
    }

    /// The time from the last received data to the next ping.
    var interval: Duration { savesPower ? proven : shortest }

    /// Whether an answer is outstanding.
    var awaitsAnswer: Bool { pingedAt != nil }

    // MARK: Events

    /// Records that a connection attempt has started.
    mutating func connecting(at now: MonotonicTime) { listen(.forHeartbeats(every: shortest), now) }

    /// Records that the connection is open and answers pings.
    mutating func opened(at now: MonotonicTime) { listen(.forAnswers, now) }

    /// Records that the connection is open and the server sends heartbeats at an interval.
    mutating func opened(withHeartbeatsEvery interval: Duration, at now: MonotonicTime) {
        listen(.forHeartbeats(every: interval), now)
    }

    /// Records that data arrived.
    mutating func received(at now: MonotonicTime) {
        receivedAt = now
        guard pingedAt != nil else { return }
        pingedAt = nil
        goodCount += 1
        guard goodCount >= Self.goodCountMin, savesPower else { return }
        goodCount = 0
        proven = min(proven * 2, longest)
    }

    /// Records that something was sent that will be answered.
    mutating func expectAnswer(at now: MonotonicTime) {
        guard case .forAnswers = listening, pingedAt == nil else { return }
        pingedAt = now
    }

    /// Records that the connection ended without a goodbye.
    mutating func ended(at now: MonotonicTime) {
        guard proven > shortest, Self.elapsed(receivedAt, now) > shortest else { return }
        longest = max(shortest, proven / 2)
        proven = shortest
        goodCount = 0
    }

    /// Discards the measured interval, which belongs to the previous network.
    mutating func networkChanged() {
        proven = shortest
        longest = shortest * Self.growthMax
        goodCount = 0
    }

    /// Returns the next step.
    func next(at now: MonotonicTime) -> Action {
        let silence = Self.elapsed(receivedAt, now)
        if let pingedAt {
            let rest = answerTimeout - Self.elapsed(pingedAt, now)
            return rest > .zero ? .wait(rest) : .dead(silence)
        }
        switch listening {
        case .forAnswers: return silence < interval ? .wait(interval - silence) : .ping
        case .forHeartbeats(let heartbeat):
            let rest = heartbeat + answerTimeout - silence
            return rest > .zero ? .wait(rest) : .dead(silence)
        }
    }

    private mutating func listen(_ listening: Listening, _ now: MonotonicTime) {
        self.listening = listening
        receivedAt = now
        pingedAt = nil
    }

    private static func elapsed(_ earlier: MonotonicTime, _ now: MonotonicTime) -> Duration {
        max(.zero, now.duration(since: earlier))
    }
}
