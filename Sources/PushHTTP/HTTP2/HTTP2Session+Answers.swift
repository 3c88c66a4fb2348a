// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session: ExchangeOwner {
    /// Queues HEADERS in nghttp2, and DATA if the answer has a body.
    func submitAnswer(of exchange: HTTPExchange, status: Int) {
        guard !isTerminated, pendingTermination == nil else { return exchange.answer.body = ByteQueue() }
        exchange.took(at: now)
        // An answer to HEAD has the status and fields of a GET and no body, so even a streamed answer ends here.
        if exchange.method == .head {
            exchange.answer.state = .whole
            exchange.answer.body = ByteQueue()
        }
        let hasBody = exchange.answer.state != .whole || !exchange.answer.body.isEmpty
        var fields = exchange.answer.takeFields()
        fields.append(status: status)
        let code = unsafe fields.withPairs(isIndexed: exchanges.takeIndexedAnswer()) { pairs in
            guard hasBody else {
                return unsafe nghttp2_submit_response(handle, exchange.id, pairs.baseAddress, pairs.count, nil)
            }
            var source = unsafe HTTP2Callbacks.answerSource()
            return unsafe nghttp2_submit_response(handle, exchange.id, pairs.baseAddress, pairs.count, &source)
        }
        check(code)
        fields.removeAll()
        exchanges.pool.take(consume fields)
        answerGrew(exchange)
    }

    private func answerGrew(_ exchange: HTTPExchange) {
        recount(exchange)
        endIfOverfull()
    }

    /// Resumes the stream, which nghttp2 deferred if it had nothing to send.
    func streamGrew(_ exchange: HTTPExchange) {
        guard !isTerminated, pendingTermination == nil else { return exchange.answer.body = ByteQueue() }
        answerGrew(exchange)
        // Fails if the stream is not deferred, which is harmless.
        _ = unsafe nghttp2_session_resume_data(handle, exchange.id)
    }

    func abandon(_ exchange: HTTPExchange) {
        guard !isTerminated else { return }
        check(unsafe nghttp2_submit_rst_stream(handle, 0, exchange.id, NGHTTP2_CANCEL.rawValue))
    }

    /// Fills a DATA frame with bytes of the body.
    ///
    /// - Parameters:
    ///   - exchange: The exchange of the stream.
    ///   - buffer: The space that both windows and the frame size allow.
    ///   - flags: The frame's flags; `NGHTTP2_DATA_FLAG_EOF` is set with the last byte, so that no empty frame follows.
    /// - Returns: The number of bytes written, or `NGHTTP2_ERR_DEFERRED`.
    func fillFrame(
        of exchange: HTTPExchange, _ buffer: UnsafeMutableBufferPointer<UInt8>, _ flags: inout UInt32
    ) -> Int {
        let isEnding = exchange.answer.state != .streaming
        if exchange.answer.body.isEmpty, !isEnding { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        if exchange.answer.state == .whole,
            exchange.isSplit(
                byConnectionWindow: buffer.count,
                streamWindow: Int(unsafe nghttp2_session_get_stream_remote_window_size(handle, exchange.id)))
        {
            exchange.answer.waitsForWindow = true
            exchanges.windowWaiterCount += 1
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        exchange.took(at: now)
        let count = exchange.answer.body.take(atMost: buffer.count) { bytes in
            unsafe bytes.withUnsafeBufferPointer { _ = unsafe buffer.update(fromContentsOf: $0) }
        }
        recount(exchange)
        if isEnding, exchange.answer.body.isEmpty { flags |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        peerLimits.dataSent()
        return count
    }

    /// Resumes the streams that waited for the connection's window.
    func connectionWindowGrew() {
        guard exchanges.windowWaiterCount > 0 else { return }
        for exchange in exchanges.pool.open where exchange.answer.waitsForWindow {
            exchange.answer.waitsForWindow = false
            exchanges.windowWaiterCount -= 1
            streamGrew(exchange)
        }
    }
}

extension AnswerFields {
    /// Calls the body with the fields, of which the last is the status, in nghttp2's form.
    ///
    /// Literals are not copied. nghttp2 copies values that differ between answers, into the one block that it allocates
    /// anyway. They stay out of the HPACK table, where they would only evict values that repeat. Only the first answers
    /// put them there, so that later ones refer to the names.
    ///
    /// - Parameters:
    ///   - isIndexed: Whether all fields are put into the HPACK table.
    ///   - body: Receives the fields, which are valid until it returns.
    /// - Returns: The result of the body.
    fileprivate func withPairs(isIndexed: Bool, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) -> Int32 {
        let fields = fields.span
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { buffer in
                // The status was appended last and is sent first.
                for index in 0..<fields.count {
                    let field = fields[index == 0 ? fields.count - 1 : index - 1]
                    let pair = unsafe HTTP2Callbacks.pair(field, bytes, isIndexed: isIndexed)
                    unsafe buffer.initializeElement(at: index, to: pair)
                }
                return unsafe body(UnsafeBufferPointer(buffer))
            }
        }
    }
}

extension HTTPExchange {
    /// Returns whether only the connection's window would split a body that fits in one frame and in its stream's
    /// window.
    ///
    /// Clients treat each DATA frame of an error as a complete JSON text, so the body waits until the window fits all
    /// of it. The connection's window is at least as large as the data that the peer has not read yet, so a peer that
    /// reads reopens it.
    ///
    /// - Parameters:
    ///   - space: The bytes that both windows and the frame size allow.
    ///   - streamWindow: The bytes that the stream's window allows.
    /// - Returns: Whether to defer the body.
    fileprivate func isSplit(byConnectionWindow space: Int, streamWindow: @autoclosure () -> Int) -> Bool {
        let count = answer.body.count
        guard count > space, count <= HTTPBounds.frameByteCountMax else { return false }
        return count <= streamWindow()
    }
}
