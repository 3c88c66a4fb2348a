// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The life of a connection, without its socket, session and clock.
///
/// ```
/// handshaking ──TLS done──▶ detecting ──first bytes──▶ serving ──last answer flushed──▶ lingering ──▶ closed
///      (plain sockets begin at detecting; ALPN skips it)   └──peer's end──▶ answering ──────┘
/// ```
///
/// Answering: the peer sends no more, but may still read. Pending answers are sent.
///
/// Lingering: our side is closed, and further input is read and discarded until the peer closes too. Closing a socket
/// with unread input resets the connection, and the peer might lose the last answers.
struct ConnectionStateMachine: ~Copyable {
    /// The progress of the server's wish to end a connection.
    enum Drain: Equatable {
        case none
        /// The session of a new connection ends after the answer to its first request.
        case awaitingRequest(GoodbyeReason)
        /// The session ends after the answers to its open requests. `isBusy` says whether one arrived since then.
        case waiting(GoodbyeReason, isBusy: Bool = false)
        /// As `waiting`, but because of the peer's behavior: further requests are refused.
        case condemned(GoodbyeReason)
        /// The session has said goodbye; the connection closes when its output is sent.
        case closing
    }

    /// The action that a transition requires.
    enum Action: Equatable {
        case none
        /// Close the socket immediately.
        case close
        /// Close our side, and wait for the peer.
        case linger
        /// Say goodbye on the session, then close.
        case finish(GoodbyeReason)
        /// After a while, announce the shutdown to a peer that still sends requests, or end a connection without a request.
        case announceLater
    }

    private enum State {
        case handshaking, detecting
        case serving(Drain)
        case answering(Drain)
        case lingering, closed
    }

    private var state: State
    /// Whether a request has arrived.
    private var hadRequest = false
    /// Whether the shutdown began before the session.
    private var endsAfterRequest = false
    /// Whether TLS must write before it can continue reading.
    var readsAfterWriting = false

    /// Creates the state of an accepted connection.
    ///
    /// - Parameter isEncrypted: Whether it begins with a TLS handshake.
    init(isEncrypted: Bool) { state = isEncrypted ? .handshaking : .detecting }

    // MARK: Questions

    var isHandshaking: Bool { if case .handshaking = state { true } else { false } }
    var isDetecting: Bool { if case .detecting = state { true } else { false } }
    var isAnswering: Bool { if case .answering = state { true } else { false } }
    var isLingering: Bool { if case .lingering = state { true } else { false } }
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Whether the connection has a session.
    var isServing: Bool {
        switch state {
        case .serving, .answering: true
        case .handshaking, .detecting, .lingering, .closed: false
        }
    }

    /// Whether our side is closed.
    var isEnding: Bool { isLingering || isClosed }

    /// The progress of the end; `none` without a session.
    var drain: Drain {
        switch state {
        case .serving(let drain), .answering(let drain): drain
        case .handshaking, .detecting, .lingering, .closed: .none
        }
    }

    /// Whether the connection stays open as long as its peer wants.
    var isStaying: Bool { if case .none = drain { true } else { false } }

    /// Whether the connection ends after the answers to its open requests.
    var isWaiting: Bool {
        switch drain {
        case .waiting, .condemned: true
        case .none, .awaitingRequest, .closing: false
        }
    }

    /// Whether the connection ends after its first request, which has not arrived.
    var isAwaitingRequest: Bool {
        switch state {
        case .handshaking, .detecting: endsAfterRequest
        case .serving(.awaitingRequest), .answering(.awaitingRequest): true
        case .serving, .answering, .lingering, .closed: false
        }
    }

    /// Whether further requests are refused.
    var isCondemned: Bool { if case .condemned = drain { true } else { false } }

    /// Returns the events to watch for while a session serves.
    ///
    /// - Parameters:
    ///   - isFlushed: Whether all output was sent.
    ///   - isFull: Whether so much output waits that nothing more is read.
    ///   - isPaused: Whether nothing is read because too much memory is held.
    /// - Returns: The events.
    func awaitedEvents(isFlushed: Bool, isFull: Bool, isPaused: Bool) -> Readiness {
        let input: Readiness = isAnswering || isPaused ? [] : .readable
        if isFlushed, !readsAfterWriting { return input }
        return isFull || readsAfterWriting ? .writable : input.union(.writable)
    }

    // MARK: Transitions

    /// Records the end of the TLS handshake; the first bytes tell the protocol unless ALPN did.
    mutating func finishHandshake() { if isHandshaking { state = .detecting } }

    /// Records that the protocol is known and a session serves.
    mutating func serve() {
        if isDetecting { state = .serving(endsAfterRequest ? .awaitingRequest(.shutdown) : .none) }
    }

    /// Handles the end of the peer's input.
    ///
    /// - Parameter isAnythingLeft: Whether answers or output are left to send.
    /// - Returns: `close`, or `none` while they are sent.
    mutating func endInput(isAnythingLeft: Bool) -> Action {
        guard case .serving(let drain) = state, isAnythingLeft else { return .close }
        state = .answering(drain)
        return .none
    }

    /// Handles the server's shutdown.
    ///
    /// Many clients do not retry a request if a new connection ends without an answer. So the first request of a new
    /// connection is still answered.
    ///
    /// - Parameters:
    ///   - openExchangeCount: The number of open exchanges.
    ///   - isNew: Whether the connection was opened only a short time ago.
    /// - Returns: The action.
    mutating func beginShutdown(openExchangeCount: Int, isNew: Bool) -> Action {
        switch state {
        case .lingering, .closed: return .none
        case .handshaking, .detecting:
            guard isNew else { return .close }
            endsAfterRequest = true
            return .announceLater
        case .serving, .answering:
            guard isStaying else { return .none }
            if isNew, !hadRequest {
                drain(.awaitingRequest(.shutdown))
                return .announceLater
            }
            drain(.waiting(.shutdown))
            return openExchangeCount > 0 ? .announceLater : .finish(.shutdown)
        }
    }

    /// Ends the connection after the answers to its open requests; returns false if it ends already.
    mutating func wait(because reason: GoodbyeReason) -> Bool { begin(.waiting(reason)) }

    /// Ends the connection of a peer that exceeded a limit, after the answers; returns false if it ends already.
    mutating func condemn(because reason: GoodbyeReason) -> Bool { begin(.condemned(reason)) }

    private mutating func begin(_ drain: Drain) -> Bool {
        guard isServing, isStaying else { return false }
        self.drain(drain)
        return true
    }

    /// Records that a request arrived.
    mutating func noteRequest() {
        hadRequest = true
        switch drain {
        case .waiting(let reason, isBusy: false): drain(.waiting(reason, isBusy: true))
        case .awaitingRequest(let reason): drain(.waiting(reason))
        case .none, .waiting, .condemned, .closing: break
        }
    }

    /// Records that the session has said goodbye or has failed.
    mutating func sayGoodbye() { drain(.closing) }

    /// Handles the complete transmission of the output.
    ///
    /// - Parameters:
    ///   - isSessionFinished: Whether the session neither reads nor writes any more.
    ///   - openExchangeCount: The number of open exchanges.
    ///   - isAnythingLeft: After the peer's end, whether answers are left.
    /// - Returns: The action, `none` while the connection stays open.
    mutating func outputSent(isSessionFinished: Bool, openExchangeCount: Int, isAnythingLeft: Bool) -> Action {
        guard isServing else { return .none }
        if isSessionFinished || (isAnswering && !isAnythingLeft) { return .linger }
        switch drain {
        case .none, .awaitingRequest: return .none
        case .waiting(let reason, _), .condemned(let reason):
            return openExchangeCount == 0 ? .finish(reason) : .none
        case .closing: return .linger
        }
    }

    /// Our side was closed.
    mutating func linger() { if !isClosed { state = .lingering } }

    /// The connection was closed; returns false if it was closed before.
    mutating func close() -> Bool {
        guard !isClosed else { return false }
        state = .closed
        return true
    }

    private mutating func drain(_ drain: Drain) {
        switch state {
        case .serving: state = .serving(drain)
        case .answering: state = .answering(drain)
        case .handshaking, .detecting, .lingering, .closed: break
        }
    }
}

/// The reason for the end of a connection that the peer is told, for example in GOAWAY.
package enum GoodbyeReason: Sendable {
    case shutdown
    /// The connection was idle, or nothing proved a credential in time.
    case idle
    case tooManyRequests
}
