// SPDX-License-Identifier: Apache-2.0

/// When to ask whether a quiet connection lives, and when to take it for dead; without a clock.
///
/// ```
///            interval over                  anything came
///  quiet ───────────────────▶ asked ─────────────────────▶ quiet
///    ▲        or doubt          │ patience over
///    └── anything came          └───────────────────────▶ dead
/// ```
///
/// Interval and patience are 28 seconds together, so that a dead link is seen within half a minute. A machine that saves
/// power asks less often: the interval doubles while answers come, up to four minutes, and is halved for good, as long as
/// the network stays the same, where a connection died while it was quiet: something on the way had forgotten it.
///
/// Where the agent cannot ask, before the stream is open and with server-sent events, it waits for the server's heartbeat.
package struct Pulse: Sendable {
    /// What to do now.
    package enum Action: Equatable, Sendable {
        /// Come back with `next` after this, or when something came of what was asked.
        case wait(Duration)
        /// Ask, and say so with `asked`.
        case ask
        /// Nothing came for so long.
        case dead(Duration)
    }

    /// So many answers in a row make a longer interval worth trying.
    private static let goodCountMin = 3
    /// The longest interval is so many times the shortest.
    private static let growthMax = 12

    /// Whether to ask as seldom as the network allows.
    package var savesPower = false

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

    /// Begins for a network of which nothing is known.
    ///
    /// - Parameters:
    ///   - shortest: From the last sign of life to the question, unless power is saved.
    ///   - patience: From the question to the end.
    package init(shortest: Duration = .seconds(20), patience: Duration = .seconds(8)) {
        self.shortest = shortest
        self.patience = patience
        proven = shortest
        longest = shortest * Self.growthMax
    }

    /// From the last sign of life to the next question.
    package var interval: Duration { savesPower ? proven : shortest }

    /// Whether an answer is awaited.
    package var isAsked: Bool { askedNanoseconds != nil }

    // MARK: Events

    /// A connection is being made.
    package mutating func connecting(atNanoseconds now: UInt64) { listen(.forHeartbeats(every: shortest), now) }

    /// It is open, and questions are answered.
    package mutating func opened(atNanoseconds now: UInt64) { listen(.forAnswers, now) }

    /// It is open, and the server says something every so often.
    package mutating func opened(withHeartbeatsEvery interval: Duration, atNanoseconds now: UInt64) {
        listen(.forHeartbeats(every: interval), now)
    }

    /// Something came.
    package mutating func heard(atNanoseconds now: UInt64) {
        heardNanoseconds = now
        guard askedNanoseconds != nil else { return }
        askedNanoseconds = nil
        goodCount += 1
        guard goodCount >= Self.goodCountMin, savesPower else { return }
        goodCount = 0
        proven = min(proven * 2, longest)
    }

    /// Something was sent that will be answered.
    package mutating func asked(atNanoseconds now: UInt64) {
        guard case .forAnswers = listening, askedNanoseconds == nil else { return }
        askedNanoseconds = now
    }

    /// The connection ended, and nobody had said so before.
    package mutating func ended(atNanoseconds now: UInt64) {
        guard proven > shortest, Self.elapsed(heardNanoseconds, now) > shortest else { return }
        longest = max(shortest, proven / 2)
        proven = shortest
        goodCount = 0
    }

    /// What is known is of another network.
    package mutating func networkChanged() {
        proven = shortest
        longest = shortest * Self.growthMax
        goodCount = 0
    }

    /// What to do now.
    package func next(atNanoseconds now: UInt64) -> Action {
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
