// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// A client opened a stream.
    func streamOpened(_ id: Int32) {
        guard hasRoomForStream else {
            return check(
                unsafe nghttp2_submit_rst_stream(
                    handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, NGHTTP2_REFUSED_STREAM.rawValue))
        }
        let exchange = pool.acquire(id: id, owner: self)
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, Unmanaged.passUnretained(exchange).toOpaque()))
    }

    /// A field of a request arrived; false when its stream is to be reset.
    func fieldArrived(_ exchange: HTTPExchange, name: Span<UInt8>, value: Span<UInt8>, isTrailer: Bool) -> Bool {
        exchange.head.append(name: name, value: value, isTrailer: isTrailer, limits: limits)
    }

    /// A request's fields or its body came to an end.
    func requestGrew(_ exchange: HTTPExchange, headEnded: Bool, requestEnded: Bool) {
        exchange.requestEnded = requestEnded
        if headEnded {
            if exchange.head.isTooLarge {
                // Not the delegate's business: half of the fields are missing.
                exchange.respond(status: 431)
                return
            }
            exchange.isAnnounced = true
            delegate?.headArrived(exchange)
        }
        if requestEnded { exchange.handOn(to: delegate) }
    }

    /// The peer has answered a PING of ours.
    func pingAnswered(_ number: UInt64) {
        guard number > answeredPingNumber, number <= sentPingNumber else { return }
        answeredPingNumber = number
    }
}
