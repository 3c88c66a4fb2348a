// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// Asks the peer to open no more streams: the GOAWAY still allows every stream, so that none is lost.
    ///
    /// - Parameter debugData: A text for the peer's log; at most `HTTPBounds.debugDataByteCountMax` bytes are sent.
    package func announceShutdown(debugData: [UInt8]) {
        guard shutdownStep == .none, !isTerminated else { return }
        shutdownStep = .announced
        notice += GoAwayFrame.notice(debugData: debugData.prefix(HTTPBounds.debugDataByteCountMax))
    }

    /// Sends the final GOAWAY with the last stream that we accept; later streams are ignored, and the peer knows that.
    ///
    /// - Parameter debugData: A text for the peer's log; at most `HTTPBounds.debugDataByteCountMax` bytes are sent.
    package func finishShutdown(debugData: [UInt8]) {
        guard shutdownStep != .final, !isTerminated else { return }
        shutdownStep = .final
        let data = Array(debugData.prefix(HTTPBounds.debugDataByteCountMax))
        let lastID = unsafe nghttp2_session_get_last_proc_stream_id(handle)
        check(unsafe nghttp2_submit_goaway(handle, 0, lastID, NGHTTP2_NO_ERROR.rawValue, data, data.count))
    }

    /// Sends a PING with the next number in its opaque data.
    package func ping() {
        guard !isTerminated else { return }
        let opaque = pings.next()
        let code = unsafe opaque.span.withUnsafeBufferPointer {
            unsafe nghttp2_submit_ping(handle, 0, $0.baseAddress)
        }
        check(code)
    }

    /// The number of our PINGs that the peer has not answered.
    package var unansweredPingCount: Int { Int(clamping: pings.sent - pings.answered) }

    /// Handles a sent GOAWAY; an error code ends the session, whether we or nghttp2 found the error.
    func goAwayWasSent(_ code: UInt32) {
        guard code != NGHTTP2_NO_ERROR.rawValue, failure == nil else { return }
        failure = unsafe "the peer broke the protocol: \(String(cString: nghttp2_http2_strerror(code)))"
    }
}

/// The progress of a graceful shutdown.
enum ShutdownStep {
    /// No shutdown; the peer may open streams.
    case none
    /// The peer was asked to open no more streams.
    case announced
    /// The final GOAWAY is queued or sent.
    case final
}
