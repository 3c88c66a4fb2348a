// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// Handles a stream opened by the client; returns false if it was refused, so that the rest of it is not read.
    func streamOpened(_ id: Int32) -> Bool {
        // After the final GOAWAY no stream is processed, even if GOAWAY is still to be sent.
        guard shutdownStep != .final, hasRoomForStream else {
            if shutdownStep != .final { countRefusal() }
            check(unsafe nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_REFUSED_STREAM.rawValue))
            return false
        }
        begin(id)
        return true
    }

    /// Handles a field of a request; returns false if the stream must be reset.
    func fieldArrived(_ exchange: HTTPExchange, name: Span<UInt8>, value: Span<UInt8>, isTrailer: Bool) -> Bool {
        switch exchange.head.append(name: name, value: value, isTrailer: isTrailer, limits: limits) {
        case .fine: return true
        case .endless: return false
        case .malformed:
            rejectMalformed(exchange)
            return false
        }
    }

    /// Handles a piece of a request's body, without padding.
    func dataArrived(_ exchange: HTTPExchange, _ bytes: Span<UInt8>) {
        guard exchange.head.rules.takeData(byteCount: bytes.count) else { return rejectMalformed(exchange) }
        exchanges.pool.lendBody(to: exchange)
        let overflows = exchange.bodyArrived(bytes)
        recount(exchange)
        if overflows { return exchange.handOn(to: delegate) }
        if !hasRoom(for: 0), !exchange.requestWasHandedOn, !exchange.isAnswered { shed(exchange) }
    }

    /// Refuses an incomplete request because the session holds too much; the peer may retry it.
    private func shed(_ exchange: HTTPExchange) {
        countRefusal()
        check(unsafe nghttp2_submit_rst_stream(handle, 0, exchange.id, NGHTTP2_REFUSED_STREAM.rawValue))
        check(unsafe nghttp2_session_set_stream_user_data(handle, exchange.id, nil))
        end(exchange)
    }

    /// Handles a complete frame of a request, on a stream that is not being reset.
    func frameArrived(_ part: HTTP2RequestPart, on id: Int32, isEnd: Bool) {
        if let exchange = exchange(id) {
            requestGrew(exchange, by: part, isEnd: isEnd)
        } else if part == .trailers, !isEnd, drained.remove(id) {
            // No more fields may follow, and they have no exchange.
            stopUpload(id)
        }
    }

    private func requestGrew(_ exchange: HTTPExchange, by part: HTTP2RequestPart, isEnd: Bool) {
        let isGood =
            switch part {
            case .head, .trailers: exchange.head.rules.endFields(endsRequest: isEnd)
            case .data: !isEnd || exchange.head.rules.endRequest()
            }
        guard isGood else { return rejectMalformed(exchange) }
        exchange.requestEnded = isEnd
        if part == .head {
            recount(exchange)
            if exchange.head.isTooLarge {
                // `headArrived` is not called, because half of the fields are missing.
                delegate?.headTooLarge(exchange)
                return
            }
            exchange.isAnnounced = true
            exchange.beganAt = now
            delegate?.headArrived(exchange)
        }
        // The delegate may have closed the session.
        guard isEnd, exchange.isOpen else { return }
        exchanges.pool.lendAnswerFields(to: exchange)
        exchange.handOn(to: delegate)
        if exchange.needsNoRequest, exchange.isOpen {
            exchanges.pool.takeRequest(of: exchange)
            recount(exchange)
        }
    }

    /// Resets a stream whose request violates HTTP's rules; nghttp2 ignores further frames on it.
    private func rejectMalformed(_ exchange: HTTPExchange) {
        // Does nothing if the stream is already being reset.
        check(unsafe nghttp2_submit_rst_stream(handle, 0, exchange.id, NGHTTP2_PROTOCOL_ERROR.rawValue))
    }

    /// Handles the acknowledgement of one of our PINGs.
    func pingAnswered(_ number: UInt64) {
        guard pings.take(answer: number) else { return }
        // The peer has read all output up to this PING.
        while let id = drained.removeAnswered(pingNumber: pings.answered) { stopUpload(id) }
    }
}

/// The part of a request that a complete frame carries.
enum HTTP2RequestPart {
    /// The fields before the body.
    case head
    /// A piece of the body.
    case data
    /// The fields after the body.
    case trailers
}
