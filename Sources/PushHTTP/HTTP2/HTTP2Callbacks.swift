// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

/// Creates nghttp2's session and translates its callbacks.
enum HTTP2Callbacks {
    /// Creates a server session with our options, callbacks and memory (`nghttp2_session_server_new3`).
    static func makeSession(_ memory: HTTP2MemoryAccount) -> OpaquePointer {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        var session: OpaquePointer?
        unsafe nghttp2_session_callbacks_new(&callbacks)
        unsafe nghttp2_option_new(&options)
        guard let callbacks = unsafe callbacks, let options = unsafe options else { preconditionFailure("no memory") }
        unsafe set(callbacks)
        unsafe set(options: options)
        _ = unsafe memory.lend { unsafe nghttp2_session_server_new3(&session, callbacks, nil, options, $0) }
        unsafe nghttp2_session_callbacks_del(callbacks)
        unsafe nghttp2_option_del(options)
        guard let session = unsafe session else { preconditionFailure("no memory") }
        return unsafe session
    }

    /// Returns the data provider from which nghttp2 reads an answer's body.
    static func answerSource() -> nghttp2_data_provider {
        var provider = unsafe nghttp2_data_provider()
        unsafe provider.read_callback = readAnswer
        return unsafe provider
    }

    /// Returns a field in nghttp2's form, which points to the literal or into `bytes`.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - bytes: The bytes of the copied values.
    ///   - isIndexed: Whether HPACK's table receives the field even if its value will not be repeated.
    /// - Returns: The field, which is valid as long as `bytes`.
    static func pair(
        _ field: AnswerFields.Field, _ bytes: UnsafeBufferPointer<UInt8>, isIndexed: Bool
    ) -> nghttp2_nv {
        let noCopyName = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
        var pair = unsafe nghttp2_nv()
        unsafe pair.name = UnsafeMutablePointer(mutating: field.name.utf8Start)
        unsafe pair.namelen = field.name.utf8CodeUnitCount
        switch field.value {
        case .literal(let value):
            unsafe pair.value = UnsafeMutablePointer(mutating: value.utf8Start)
            unsafe pair.valuelen = value.utf8CodeUnitCount
            unsafe pair.flags = UInt8(noCopyName | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        case .copied(let range), .repeated(let range):
            let value = unsafe UnsafeBufferPointer(rebasing: bytes[range])
            unsafe pair.value = UnsafeMutablePointer(mutating: value.baseAddress)
            unsafe pair.valuelen = value.count
            unsafe pair.flags = UInt8(noCopyName)
            if !isIndexed, case .copied = field.value { unsafe pair.flags |= UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) }
        }
        return unsafe pair
    }

    private static func set(options: OpaquePointer) {
        // Otherwise nghttp2 keeps closed streams for RFC 7540's priority tree.
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_outbound_ack(options, HTTPBounds.unsentAcknowledgementCountMax)
        unsafe nghttp2_option_set_stream_reset_rate_limit(
            options, HTTPBounds.receivedResetCountMax, HTTPBounds.receivedResetCountPerSecond)
        unsafe nghttp2_option_set_max_continuations(options, HTTPBounds.continuationCountMax)
        unsafe nghttp2_option_set_max_settings(options, HTTPBounds.settingsEntryCountMax)
        // `MessageRules` checks the form of messages instead.
        unsafe nghttp2_option_set_no_http_messaging(options, 1)
    }

    private static func set(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrameReceived)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onDataChunk)
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onFrameSent)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClosed)
    }
}

/// Calls the body with a callback's session: the session's `init` sets `user_data`, and the session outlives the
/// handle.
private func withSession(_ userData: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Int32) -> Int32 {
    guard let userData = unsafe userData else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
}

/// Calls the body with the exchange of a stream if it is open: `streamOpened` sets the stream user data, and the pool
/// keeps the object.
///
/// No reference is retained: the body must neither end an exchange nor call the delegate, which might end one.
///
/// - Parameters:
///   - handle: The nghttp2 session.
///   - id: The stream's identifier.
///   - body: Receives the exchange.
/// - Returns: The result of the body; 0 if no exchange is open.
private func withExchange(_ handle: OpaquePointer?, _ id: Int32, _ body: (HTTPExchange) -> Int32) -> Int32 {
    guard let found = unsafe nghttp2_session_get_stream_user_data(handle, id) else { return 0 }
    return unsafe Unmanaged<HTTPExchange>.fromOpaque(found)._withUnsafeGuaranteedRef { exchange in
        exchange.isOpen ? body(exchange) : 0
    }
}

private func onBeginHeaders(
    _ handle: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame?.pointee, unsafe frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
        unsafe frame.headers.cat == NGHTTP2_HCAT_REQUEST
    else { return 0 }
    let id = unsafe frame.hd.stream_id
    return unsafe withSession(userData) { session in
        // A refused stream's fields are only HPACK-decoded. Its own reset was submitted first, so that is the one sent.
        session.streamOpened(id) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
}

private func onHeader(
    _ handle: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?,
    _ nameByteCount: Int, _ value: UnsafePointer<UInt8>?, _ valueByteCount: Int, _ flags: UInt8,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame, let name = unsafe name, let value = unsafe value else { return 0 }
    let isTrailer = unsafe frame.pointee.headers.cat != NGHTTP2_HCAT_REQUEST
    let nameSpan = unsafe Span(_unsafeStart: name, count: nameByteCount)
    let valueSpan = unsafe Span(_unsafeStart: value, count: valueByteCount)
    let id = unsafe frame.pointee.hd.stream_id
    return unsafe withSession(userData) { session in
        func take(_ exchange: HTTPExchange) -> Int32 {
            session.fieldArrived(exchange, name: nameSpan, value: valueSpan, isTrailer: isTrailer)
                ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        if let latest = unsafe session.exchanges.latest, unsafe latest._withUnsafeGuaranteedRef({ $0.id == id }) {
            return unsafe latest._withUnsafeGuaranteedRef(take)
        }
        return unsafe withExchange(handle, id, take)
    }
}

private func onFrameReceived(
    _ handle: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let header = unsafe frame.pointee.hd
    return unsafe withSession(userData) { session in
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            session.frameArrived(unsafe part(of: frame), on: header.stream_id, isEnd: header.flags & endStreamFlag != 0)
        case NGHTTP2_WINDOW_UPDATE: if header.stream_id == 0 { session.connectionWindowGrew() }
        case NGHTTP2_SETTINGS: if header.flags & acknowledgeFlag != 0 { session.streams.isAcknowledged = true }
        case NGHTTP2_PING: if header.flags & acknowledgeFlag != 0 { unsafe session.pingAnswered(number(of: frame)) }
        default: break
        }
        return 0
    }
}

private func onDataChunk(
    _ handle: OpaquePointer?, _ flags: UInt8, _ id: Int32, _ data: UnsafePointer<UInt8>?, _ byteCount: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let data = unsafe data else { return 0 }
    let bytes = unsafe Span(_unsafeStart: data, count: byteCount)
    return unsafe withSession(userData) { session in
        if let exchange = session.exchange(id) {
            session.dataArrived(exchange, bytes)
        } else {
            session.discard(byteCount, of: id)
        }
        return 0
    }
}

private func onFrameSent(
    _ handle: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return 0 }
    let header = unsafe frame.pointee.hd
    return unsafe withSession(userData) { session in
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            if header.flags & endStreamFlag != 0 { session.answerEnded(header.stream_id) }
        case NGHTTP2_RST_STREAM: unsafe session.countSentReset(frame.pointee.rst_stream.error_code)
        case NGHTTP2_GOAWAY: unsafe session.goAwayWasSent(frame.pointee.goaway.error_code)
        default: break
        }
        return 0
    }
}

/// Handles a closed stream; never fails, since nghttp2 1.52 leaks memory if this callback does (CVE-2023-35945).
private func onStreamClosed(
    _ handle: OpaquePointer?, _ id: Int32, _ code: UInt32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    _ = unsafe withSession(userData) { session in
        session.streamClosed(id)
        return 0
    }
    return 0
}

private func readAnswer(
    _ handle: OpaquePointer?, _ id: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ byteCount: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer = unsafe buffer, let flags = unsafe flags else { return Int(callbackFailed) }
    let space = unsafe UnsafeMutableBufferPointer(start: buffer, count: byteCount)
    var written = Int(callbackFailed)
    _ = unsafe withSession(userData) { session in
        unsafe withExchange(handle, id) { exchange in
            written = unsafe session.fillFrame(of: exchange, space, &flags.pointee)
            return 0
        }
    }
    return written
}

private let endStreamFlag = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
private let acknowledgeFlag = UInt8(NGHTTP2_FLAG_ACK.rawValue)
private let callbackFailed = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

/// Returns the part of its request that a HEADERS or DATA frame carries.
private func part(of frame: UnsafePointer<nghttp2_frame>) -> HTTP2RequestPart {
    guard unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) else { return .data }
    return unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST ? .head : .trailers
}

/// Returns the number that `HTTP2Session.ping` wrote into a PING's opaque data.
private func number(of frame: UnsafePointer<nghttp2_frame>) -> UInt64 {
    let bytes = unsafe frame.pointee.ping.opaque_data
    var number: UInt64 = 0
    for byte in [bytes.7, bytes.6, bytes.5, bytes.4, bytes.3, bytes.2, bytes.1, bytes.0] {
        number = number << 8 | UInt64(byte)
    }
    return number
}
