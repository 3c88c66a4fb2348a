// SPDX-License-Identifier: Apache-2.0

/// Decides when to ping a quiet connection and when to consider it dead.
///
/// Has no clock of its own.
///
/// ```
///            interval over                  anything came
///  quiet ───────────────────▶ asked ─────────────────────▶ quiet
///    ▲        or doubt          │ patience over
///    └── anything came          └───────────────────────▶ dead
/// ```
///
/// Interval and patience add up to 28 seconds, so a dead link is detected within half a minute.
///
/// While the machine saves power, pings are rarer. The interval doubles while answers come, up to four minutes. A
/// connection that dies while it is quiet was probably dropped by a device on the way, which had forgotten it. The
/// longest interval is then half of the one that failed, until the network changes.
///
/// The agent cannot ping before the stream is open, nor over server-sent events. There it waits for the server's
/// heartbeat.
struct KeepaliveMonitor: Sendable {
    /// The next step for the caller.
    enum Action: Equatable, Sendable {
        /// Call `next` again after this time, or when an answer arrives.
        case wait(Duration)
        /// Send a ping and report it with `asked`.
        case ask
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
    private let patience: Duration
    private var proven: Duration
    private var longest: Duration
    private var goodCount = 0
    private var listening = Listening.forHeartbeats(every: .zero)
    private var heardNanoseconds: UInt64 = 0
    private var askedNanoseconds: UInt64?

    private enum Listening {
        case forHeartbeats(every: Duration)
        case forAnswers
    }

    /// Creates a pulse for an unknown network.
    ///
    /// - Parameters:
    ///   - shortest: The time from the last received data to the ping, unless power is saved.
    ///   - patience: The time to wait for the answer.
    init(shortest: Duration = .seconds(20), patience: Duration = .seconds(8)) {
        self.shortest = shortest
        self.patience = patience
        proven = shortest
        longest = shortest * Self.growthMax
    }

    /// The time from the last received data to the next ping.
    var interval: Duration { savesPower ? proven : shortest }

    /// Whether an answer is outstanding.
    var isAsked: Bool { askedNanoseconds != nil }

    // MARK: Events

    /// Records that a connection attempt has started.
    mutating func connecting(atNanoseconds now: UInt64) { listen(.forHeartbeats(every: shortest), now) }

    /// Records that the connection is open and answers pings.
    mutating func opened(atNanoseconds now: UInt64) { listen(.forAnswers, now) }

    /// Records that the connection is open and the server sends heartbeats at an interval.
    mutating func opened(withHeartbeatsEvery interval: Duration, atNanoseconds now: UInt64) {
        listen(.forHeartbeats(every: interval), now)
    }

    /// Records that data arrived.
    mutating func heard(atNanoseconds now: UInt64) {
        heardNanoseconds = now
        guard askedNanoseconds != nil else { return }
        askedNanoseconds = nil
        goodCount += 1
        guard goodCount >= Self.goodCountMin, savesPower else { return }
        goodCount = 0
        proven = min(proven * 2, longest)
    }

    /// Records that something was sent that will be answered.
    mutating func asked(atNanoseconds now: UInt64) {
        guard case .forAnswers = listening, askedNanoseconds == nil else { return }
        askedNanoseconds = now
    }

    /// Records that the connection ended without a goodbye.
    mutating func ended(atNanoseconds now: UInt64) {
        guard proven > shortest, Self.elapsed(heardNanoseconds, now) > shortest else { return }
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

    /// Returns the next step at a monotonic time.
    func next(atNanoseconds now: UInt64) -> Action {
        let silence = Self.elapsed(heardNanoseconds, now)
        if let askedNanoseconds {
            let rest = patience - Self.elapsed(askedNanoseconds, now)
            return rest > .zero ? .wait(rest) : .dead(silence)
        }
        switch listening {
        case .forAnswers: return silence < interval ? .wait(interval - silence) : .ask
        case .forHeartbeats(let heartbeat):
            let rest = heartbeat + patience - silence
            return rest > .zero ? .wait(rest) : .dead(silence)
        }
    }

    private mutating func listen(_ listening: Listening, _ now: UInt64) {
        self.listening = listening
        heardNanoseconds = now
        askedNanoseconds = nil
    }

    private static func elapsed(_ earlier: UInt64, _ now: UInt64) -> Duration {
        .nanoseconds(now > earlier ? Int64(clamping: now - earlier) : 0)
    }
}
