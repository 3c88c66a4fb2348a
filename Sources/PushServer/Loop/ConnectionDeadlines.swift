// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What a connection may take its time for; times are the loop's monotonic nanoseconds.
struct ConnectionDeadlines {
    enum Verdict: Equatable {
        case fine
        /// Nothing is open and nothing came for long: say goodbye.
        case idle
        /// No credential was proved in time: answer what is open, and say goodbye.
        case unproven
        /// Close without a word.
        case tooSlow(String)
    }

    private var begin: UInt64
    private var activity: UInt64
    /// What of the session's input had come whole, and when that last grew or a message began.
    private var completedCount: UInt64 = 0
    private var messageBegin: UInt64?
    private var requestBegin: UInt64?
    private var outputBegin: UInt64?
    private var lingerBegin: UInt64?

    init(now: UInt64) {
        begin = now
        activity = now
    }

    /// The handshake begins only now, because it had to wait for its turn.
    mutating func handshakeBegins(now: UInt64) { begin = now }

    /// Bytes came.
    ///
    /// Only whole messages count: one byte now and then keeps no connection.
    mutating func received(_ progress: (completedCount: UInt64, isMidMessage: Bool), now: UInt64) {
        let hasGrown = progress.completedCount != completedCount
        completedCount = progress.completedCount
        if hasGrown { activity = now }
        messageBegin = progress.isMidMessage ? (hasGrown ? now : messageBegin ?? now) : nil
    }

    mutating func wrote(now: UInt64) {
        activity = now
        if outputBegin != nil { outputBegin = now }
    }

    /// A head came whose body may be missing; the oldest such moment counts.
    mutating func requestBegan(now: UInt64) { requestBegin = requestBegin ?? now }

    /// A request is whole: whoever finishes requests is not slow.
    mutating func requestEnded() { requestBegin = nil }

    mutating func outputWaits(_ isWaiting: Bool, now: UInt64) {
        outputBegin = isWaiting ? outputBegin ?? now : nil
    }

    /// Our side is closed and the peer's is not.
    mutating func lingers(now: UInt64) { lingerBegin = now }

    /// Something was begun and is not over.
    var isRunning: Bool { messageBegin != nil || requestBegin != nil || outputBegin != nil || lingerBegin != nil }

    /// Judges the connection.
    ///
    /// - Parameters:
    ///   - now: Monotonic nanoseconds.
    ///   - isServing: Whether the handshake is over.
    ///   - openExchangeCount: How many exchanges are not over.
    ///   - strangerPatience: How long a connection may stay without a proven credential; nil when one was proved.
    /// - Returns: What to do. After `unproven` a connection gets `requestPatience` more for its open requests.
    func verdict(
        now: UInt64, isServing: Bool, openExchangeCount: Int, strangerPatience: Duration? = nil
    ) -> Verdict {
        func isOver(_ start: UInt64, _ patience: Duration) -> Bool {
            now > start && now - start > UInt64(patience / .nanoseconds(1))
        }
        if let lingerBegin { return isOver(lingerBegin, Limits.lingerPatience) ? .tooSlow("linger") : .fine }
        if !isServing || completedCount == 0, isOver(begin, Limits.handshakePatience) { return .tooSlow("handshake") }
        guard isServing else { return .fine }
        if let messageBegin, isOver(messageBegin, Limits.requestPatience) { return .tooSlow("message") }
        if let outputBegin, isOver(outputBegin, Limits.outputPatience) { return .tooSlow("output") }
        if let requestBegin, openExchangeCount > 0, isOver(requestBegin, Limits.requestPatience) {
            return .tooSlow("request")
        }
        if let strangerPatience, isOver(begin, strangerPatience) {
            return isOver(begin, strangerPatience + Limits.requestPatience) ? .tooSlow("credential") : .unproven
        }
        return openExchangeCount == 0 && isOver(activity, Limits.idlePatience) ? .idle : .fine
    }
}
