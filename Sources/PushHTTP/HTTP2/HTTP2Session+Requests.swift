// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// A client opened a stream; false when it was refused, so that nothing more of it is to be read.
    func streamOpened(_ id: Int32) -> Bool {
        guard hasRoomForStream else {
            countRefusal()
            check(unsafe nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_REFUSED_STREAM.rawValue))
            return false
        }
        let exchange = pool.acquire(id: id, owner: self)
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, Unmanaged.passUnretained(exchange).toOpaque()))
        return true
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
