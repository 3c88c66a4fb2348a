// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// The number of complete frames received.
    package var completedMessageCount: UInt64 { peerLimits.meter.completedFrameCount }

    /// Sends our SETTINGS.
    ///
    /// INITIAL_WINDOW_SIZE and MAX_FRAME_SIZE are not sent because we want their defaults. nghttp2 gets a stream limit
    /// that no peer reaches, and the peer gets another (`SettingsFrame`). nghttp2 would end the connection of a peer
    /// that opens more streams than SETTINGS allow, and clients may do that in good faith before they have read
    /// SETTINGS. `streamOpened` enforces the limit.
    func submitSettings() {
        let entries = SettingsFrame.libraryEntries(limits)
        check(unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
        let window = HTTPBounds.connectionWindowByteCount
        check(unsafe nghttp2_session_set_local_window_size(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, window))
    }

    /// Sets the number of allowed streams, and announces it if the peer knows another number.
    package func advertiseStreams(_ count: Int) {
        guard streams.allow(count), !isTerminated else { return }
        // The first SETTINGS can still carry it.
        guard opening?.advertise(count, limits) != true else { return }
        check(
            unsafe nghttp2_submit_settings(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), [SettingsFrame.libraryStreamEntry], 1))
    }

    /// Whether another stream may be opened, with the largest fields that a request may have.
    var hasRoomForStream: Bool {
        !isClosed && exchanges.pool.open.count < streams.countMax
            && hasRoom(for: HTTPBounds.streamReserveFactor * limits.headerListByteCountMax)
    }

    /// Counts a reset that we sent.
    func countSentReset(_ code: UInt32) {
        end(because: peerLimits.countSentReset(code, now: now))
    }

    /// Counts a stream that is refused because a limit is reached.
    func countRefusal() {
        endIfOverfull()
        end(because: peerLimits.countRefusal(isEarly: streams.isEarly, now: now))
    }

    /// Ends the session of a peer that does not read our answers and refusals and so makes us hold too much.
    func endIfOverfull() {
        guard retainedByteCount / HTTPBounds.overfullFactor > retainedByteCountMax else { return }
        if pendingTermination == nil { end(because: peerLimits.unreadAnswers()) }
    }

    /// Marks the session to be ended by `terminateIfPending`, outside of callbacks; the first reason counts.
    func end(because termination: HTTP2Termination?) {
        if pendingTermination == nil { pendingTermination = termination }
    }

    /// Marks the session to be ended after a failed nghttp2 call.
    func endAfterError(_ code: Int32) {
        end(because: HTTP2Termination(libraryError: code))
    }

    /// Marks the session to be ended if a call failed that fails only when memory is exhausted.
    func check(_ code: Int32) {
        if code != 0 { endAfterError(code) }
    }
}
