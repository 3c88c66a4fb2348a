// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// The number of complete frames received.
    package var completedMessageCount: UInt64 { meter.completedFrameCount }

    /// Sends our SETTINGS.
    ///
    /// INITIAL_WINDOW_SIZE and MAX_FRAME_SIZE are not sent because we want their defaults. nghttp2 gets a stream limit
    /// that no peer reaches, and the peer gets another (`SettingsFrame`). nghttp2 would end the connection of a peer
    /// that opens more streams than SETTINGS allow, and clients may do that in good faith before they have read
    /// SETTINGS. `streamOpened` enforces the limit.
    func submitSettings() {
        let streams = SettingsFrame.streamCountOfLibrary
        let entries = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue),
                value: HTTPBounds.headerTableByteCount),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: streams),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: limits.advertisedHeaderListByteCountMax),
        ]
        check(unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
        let window = HTTPBounds.connectionWindowByteCount
        check(unsafe nghttp2_session_set_local_window_size(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, window))
    }

    /// Sets the number of allowed streams, and announces it if the peer knows another number.
    package func advertiseStreams(_ count: Int) {
        allowedStreamCount = count
        guard count != advertisedStreamCount, !isTerminated else { return }
        advertisedStreamCount = count
        // The first SETTINGS can still carry it.
        guard opening?.advertise(count, limits) != true else { return }
        let entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
            value: SettingsFrame.streamCountOfLibrary)
        check(unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), [entry], 1))
    }

    /// The number of streams that may be open at the same time.
    ///
    /// Before the owner calls `advertiseStreams`, only a few are allowed, whatever SETTINGS say. An unauthenticated
    /// peer that has not read SETTINGS may assume 100 (RFC 9113, section 6.5.2); one that has read a smaller number
    /// must keep to it. Afterwards, a peer that has not read SETTINGS may open more streams than they will announce.
    private var streamCountMax: Int {
        guard let allowedStreamCount else {
            let count = HTTPBounds.streamCountBeforeAuthentication
            return settingsWereAcknowledged ? min(advertisedStreamCount, count) : count
        }
        return settingsWereAcknowledged ? allowedStreamCount : max(allowedStreamCount, HTTPBounds.earlyStreamCountMax)
    }

    /// Whether another stream may be opened, with the largest fields that a request may have.
    var hasRoomForStream: Bool {
        !isClosed && pool.open.count < streamCountMax
            && hasRoom(for: HTTPBounds.streamReserveFactor * limits.headerListByteCountMax)
    }

    /// Counts the cheap frames of the input before nghttp2 sees it.
    func charge(for bytes: Span<UInt8>) {
        var charge = meter.charge(for: bytes)
        switch charge.violation {
        case nil: break
        case .streamClosed:
            pendingTermination(NGHTTP2_STREAM_CLOSED, "the peer sent a frame on a stream that it had ended")
        case .idTooLow:
            pendingTermination(NGHTTP2_PROTOCOL_ERROR, "the peer opened a stream with a lower id than an earlier one")
        }
        windowUpdateAllowance = min(
            windowUpdateAllowance + charge.headers * HTTPBounds.windowUpdatesPerRequest,
            HTTPBounds.windowUpdateAllowanceMax)
        let owed = min(charge.windowUpdates, windowUpdateAllowance)
        windowUpdateAllowance -= owed
        charge.glitches += (charge.windowUpdates - owed) * HTTPBounds.glitchesPerOtherFrame
        guard !glitches.spend(charge.glitches, of: .glitches, nowNanoseconds: nowNanoseconds) else { return }
        pendingTermination(NGHTTP2_ENHANCE_YOUR_CALM, "the peer sent too many frames that ask for nothing")
    }

    /// Counts a reset that we sent, unless it was our own choice.
    ///
    /// Every stream that a peer makes us reset costs us a request but the peer only a few bytes (CVE-2025-8671).
    ///
    /// - Parameter code: The error code in the RST_STREAM frame.
    func countSentReset(_ code: UInt32) {
        switch nghttp2_error_code(code) {
        // Refusals were counted when they were decided.
        case NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM: return
        default: spendReset()
        }
    }

    /// Counts a stream that is refused because a limit is reached.
    ///
    /// The stream is not counted when its reset is sent: until then it has no exchange, so a peer that reads nothing
    /// could pile up resets.
    func countRefusal() {
        endIfOverfull()
        if !settingsWereAcknowledged || allowedStreamCount == nil, earlyRefusalCount < HTTPBounds.earlyRefusalCountMax {
            // When the peer opened this stream, it could not know the limit, or that the limit is lower before
            // authentication.
            earlyRefusalCount += 1
            return
        }
        spendReset()
    }

    /// Ends the session of a peer that does not read our answers and refusals and so makes us hold too much.
    func endIfOverfull() {
        guard retainedByteCount / HTTPBounds.overfullFactor > retainedByteCountMax else { return }
        pendingTermination(NGHTTP2_ENHANCE_YOUR_CALM, "the peer asks for more than it reads")
    }

    private func spendReset() {
        guard !sentResets.spend(1, of: .sentResets, nowNanoseconds: nowNanoseconds) else { return }
        pendingTermination(NGHTTP2_ENHANCE_YOUR_CALM, "the peer made us reset too many streams")
    }

    /// Marks the session to be ended by `carryOutDoom`, outside of callbacks; the first reason counts.
    func pendingTermination(_ code: nghttp2_error_code, _ reason: String) {
        guard pendingTermination == nil else { return }
        pendingTermination = Termination(reason: reason, code: code)
    }

    /// Marks the session to be ended after a failed nghttp2 call.
    func endAfterError(_ code: Int32) {
        let text = unsafe String(cString: nghttp2_strerror(code))
        switch nghttp2_error(code) {
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC: pendingTermination(NGHTTP2_PROTOCOL_ERROR, text)
        case NGHTTP2_ERR_FLOODED, NGHTTP2_ERR_TOO_MANY_SETTINGS, NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
            pendingTermination(NGHTTP2_ENHANCE_YOUR_CALM, text)
        default: pendingTermination(NGHTTP2_INTERNAL_ERROR, text)
        }
    }

    /// Marks the session to be ended if a call failed that fails only when memory is exhausted.
    func check(_ code: Int32) {
        if code != 0 { endAfterError(code) }
    }
}
