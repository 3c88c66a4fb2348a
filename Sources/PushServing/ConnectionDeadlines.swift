// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The deadlines of a connection, in the loop's time.
struct ConnectionDeadlines {
    enum Verdict: Equatable {
        case fine
        /// No exchange is open and nothing has arrived for a long time: shut the connection down.
        case idle
        /// No credential was proven in time: answer the open requests, then shut the connection down.
        case unproven
        /// Close without an answer.
        case tooSlow(String)
    }

    /// The start of a deadline that is not running; an optional would take twice the memory.
    private static let notRunning = MonotonicTime.future

    /// The time of acceptance, or of the first handshake step.
    private(set) var begin: MonotonicTime
    private var activity: MonotonicTime
    /// The number of complete messages at the last input, and the time when it last grew or a message began.
    private var completedCount: UInt64 = 0
    private var messageBegin = notRunning
    private var requestBegin = notRunning
    private var outputBegin = notRunning
    private var lingerBegin = notRunning

    init(now: MonotonicTime) {
        begin = now
        activity = now
    }

    /// Restarts the handshake deadline, because the handshake had to wait for its turn.
    mutating func handshakeBegins(now: MonotonicTime) { begin = now }

    /// Updates the deadlines for new input.
    ///
    /// Only complete messages count, so single bytes at long intervals do not keep a connection open.
    ///
    /// - Parameters:
    ///   - progress: The session's number of complete messages, and whether another one has begun.
    ///   - now: The current time.
    mutating func received(_ progress: (completedCount: UInt64, isMidMessage: Bool), now: MonotonicTime) {
        let hasGrown = progress.completedCount != completedCount
        completedCount = progress.completedCount
        if hasGrown { activity = now }
        if !progress.isMidMessage {
            messageBegin = Self.notRunning
        } else if hasGrown || messageBegin == Self.notRunning {
            messageBegin = now
        }
    }

    mutating func wrote(now: MonotonicTime) {
        activity = now
        if outputBegin < Self.notRunning { outputBegin = now }
    }

    /// Starts the request deadline at a head whose body may be missing; the oldest such head counts.
    mutating func requestBegan(now: MonotonicTime) {
        if now < requestBegin { requestBegin = now }
    }

    /// Clears the request deadline, because a peer that completes requests is not slow.
    mutating func requestEnded() { requestBegin = Self.notRunning }

    mutating func outputWaits(_ isWaiting: Bool, now: MonotonicTime) {
        guard isWaiting else { return outputBegin = Self.notRunning }
        if now < outputBegin { outputBegin = now }
    }

    /// Starts the linger deadline, because our side is closed and the peer's is not.
    mutating func lingers(now: MonotonicTime) { lingerBegin = now }

    /// Whether a message, request, output or linger deadline is running.
    var isRunning: Bool {
        messageBegin < Self.notRunning || requestBegin < Self.notRunning || outputBegin < Self.notRunning
            || lingerBegin < Self.notRunning
    }

    /// Checks the deadlines of the connection.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isServing: Whether the handshake is complete.
    ///   - openExchangeCount: The number of open exchanges.
    ///   - authenticationTimeout: The time a connection may stay open without a proven credential; nil once one was
    ///     proven.
    /// - Returns: The action to take. After `unproven`, open requests get another `requestTimeout`.
    func verdict(
        now: MonotonicTime, isServing: Bool, openExchangeCount: Int, authenticationTimeout: Duration? = nil
    ) -> Verdict {
        func isOver(_ start: MonotonicTime, _ timeout: Duration) -> Bool { now.duration(since: start) > timeout }
        if lingerBegin < Self.notRunning {
            return isOver(lingerBegin, Limits.lingerTimeout) ? .tooSlow("linger") : .fine
        }
        if !isServing || completedCount == 0, isOver(begin, Limits.handshakeTimeout) { return .tooSlow("handshake") }
        guard isServing else { return .fine }
        if isOver(messageBegin, Limits.requestTimeout) { return .tooSlow("message") }
        if isOver(outputBegin, Limits.outputTimeout) { return .tooSlow("output") }
        if openExchangeCount > 0, isOver(requestBegin, Limits.requestTimeout) {
            return .tooSlow("request")
        }
        if let authenticationTimeout, isOver(begin, authenticationTimeout) {
            return isOver(begin, authenticationTimeout + Limits.requestTimeout) ? .tooSlow("credential") : .unproven
        }
        return openExchangeCount == 0 && isOver(activity, Limits.idleTimeout) ? .idle : .fine
    }
}
