// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2
internal import PushNet

/// The reason why a session must end.
struct HTTP2Termination {
    /// The reason for the log.
    var reason: String
    /// The error code for GOAWAY.
    var code: nghttp2_error_code
}

extension HTTP2Termination {
    /// Creates the termination after a failed nghttp2 call.
    init(libraryError code: Int32) {
        reason = unsafe String(cString: nghttp2_strerror(code))
        self.code =
            switch nghttp2_error(code) {
            case NGHTTP2_ERR_BAD_CLIENT_MAGIC: NGHTTP2_PROTOCOL_ERROR
            case NGHTTP2_ERR_FLOODED, NGHTTP2_ERR_TOO_MANY_SETTINGS, NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
                NGHTTP2_ENHANCE_YOUR_CALM
            default: NGHTTP2_INTERNAL_ERROR
            }
    }
}

/// Counts the cheap frames and the resets of a peer, and says when the session must end because of them.
struct HTTP2PeerLimits {
    /// The frames that the peer sent.
    private(set) var meter = FrameMeter()
    private var glitches = RateBucket(.glitches)
    private var sentResets = RateBucket(.sentResets)
    /// The number of WINDOW_UPDATE frames that the peer may send for DATA that it received.
    private var windowUpdateAllowance = 0
    private var earlyRefusalCount = 0
    let metrics: HTTP2Metrics

    init(_ metrics: HTTP2Metrics) { self.metrics = metrics }

    /// Counts the cheap frames of the input, before nghttp2 sees it.
    ///
    /// - Parameters:
    ///   - bytes: The input.
    ///   - now: The current time.
    /// - Returns: Why the session must end; nil if it may continue.
    mutating func charge(for bytes: Span<UInt8>, now: MonotonicTime) -> HTTP2Termination? {
        var charge = meter.charge(for: bytes)
        windowUpdateAllowance = min(
            windowUpdateAllowance + charge.headers * HTTPBounds.windowUpdatesPerRequest,
            HTTPBounds.windowUpdateAllowanceMax)
        let owed = min(charge.windowUpdates, windowUpdateAllowance)
        windowUpdateAllowance -= owed
        charge.glitches += (charge.windowUpdates - owed) * HTTPBounds.glitchesPerOtherFrame
        if charge.glitches > 0 { metrics.glitches.add(Int64(charge.glitches)) }
        let isCalm = glitches.spend(charge.glitches, of: .glitches, now: now)
        switch charge.violation {
        case nil: break
        case .streamClosed:
            return HTTP2Termination(
                reason: "the peer sent a frame on a stream that it had ended", code: NGHTTP2_STREAM_CLOSED)
        case .idTooLow:
            return HTTP2Termination(
                reason: "the peer opened a stream with a lower ID than an earlier one", code: NGHTTP2_PROTOCOL_ERROR)
        }
        return isCalm ? nil : excess("the peer sent too many control or empty frames", .glitches)
    }

    /// Counts a reset that we sent, unless it was our own choice.
    ///
    /// Every stream that a peer makes us reset costs us a request but the peer only a few bytes (CVE-2025-8671).
    ///
    /// - Parameters:
    ///   - code: The error code in the RST_STREAM frame.
    ///   - now: The current time.
    /// - Returns: Why the session must end; nil if it may continue.
    mutating func countSentReset(_ code: UInt32, now: MonotonicTime) -> HTTP2Termination? {
        switch nghttp2_error_code(code) {
        // Refusals were counted when they were decided.
        case NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM: nil
        default: spendReset(now: now)
        }
    }

    /// Counts a stream that is refused because a limit is reached.
    ///
    /// The stream is not counted when its reset is sent: until then it has no exchange, so a peer that reads nothing
    /// could pile up resets.
    ///
    /// - Parameters:
    ///   - isEarly: Whether the peer could not know the limit when it opened the stream, or that the limit is lower
    ///     before authentication.
    ///   - now: The current time.
    /// - Returns: Why the session must end; nil if it may continue.
    mutating func countRefusal(isEarly: Bool, now: MonotonicTime) -> HTTP2Termination? {
        metrics.note(.streams)
        if isEarly, earlyRefusalCount < HTTPBounds.earlyRefusalCountMax {
            earlyRefusalCount += 1
            return nil
        }
        return spendReset(now: now)
    }

    /// Allows the WINDOW_UPDATE frames that a peer may send for a DATA frame of ours.
    mutating func dataSent() {
        windowUpdateAllowance = min(
            windowUpdateAllowance + HTTPBounds.windowUpdatesPerSentData, HTTPBounds.windowUpdateAllowanceMax)
    }

    private mutating func spendReset(now: MonotonicTime) -> HTTP2Termination? {
        guard !sentResets.spend(1, of: .sentResets, now: now) else { return nil }
        return excess("the peer made us reset too many streams", .resets)
    }

    /// Returns the end of a session that holds too much, because its peer does not read.
    func unreadAnswers() -> HTTP2Termination {
        excess("the peer sends requests but does not read the responses", .unread)
    }

    private func excess(_ reason: String, _ limit: HTTP2Metrics.Limit) -> HTTP2Termination {
        metrics.note(limit)
        return HTTP2Termination(reason: reason, code: NGHTTP2_ENHANCE_YOUR_CALM)
    }
}
