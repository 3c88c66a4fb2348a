// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// A client opened a stream.
    func streamOpened(_ id: Int32) {
        let exchange = pool.acquire(id: id, owner: self)
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, Unmanaged.passUnretained(exchange).toOpaque()))
    }

    /// A field of a request arrived; nghttp2 has checked its bytes.
    ///
    /// - Parameters:
    ///   - exchange: The stream's.
    ///   - name: In lower case; pseudo-fields begin with a colon.
    ///   - value: Lent for the call.
    ///   - isTrailer: The field stands behind the body: counted, not kept.
    /// - Returns: Whether the stream may go on; if not, it is reset and its other fields are only skimmed.
    func fieldArrived(_ exchange: HTTPExchange, name: Span<UInt8>, value: Span<UInt8>, isTrailer: Bool) -> Bool {
        // nghttp2 takes neither more than 64 KiB in one string nor more fields than fit in five frames.
        exchange.headerListByteCount += name.count + value.count + 32
        exchange.headerFieldCount += 1
        if exchange.headerListByteCount > limits.headerListByteCountMax
            || exchange.headerFieldCount > limits.headerFieldCountMax
        {
            exchange.headIsTooLarge = true
            let resetByteCount = limits.headerListByteCountMax.multipliedReportingOverflow(
                by: HTTPBounds.headerListResetFactor)
            return resetByteCount.overflow || exchange.headerListByteCount <= resetByteCount.partialValue
        }
        if isTrailer { return true }
        if name.count > 0, name[0] == UInt8(ascii: ":") {
            pseudoFieldArrived(exchange, name: name, value: value)
        } else {
            exchange.fields.append(name: name, value: value)
        }
        return true
    }

    private func pseudoFieldArrived(_ exchange: HTTPExchange, name: Span<UInt8>, value: Span<UInt8>) {
        if name.equals(":method") {
            exchange.method = Method(value)
        } else if name.equals(":path") {
            exchange.path = exchange.fields.appendBytes(value)
        }
    }

    /// A request's fields or its body came to an end.
    func requestGrew(_ exchange: HTTPExchange, headEnded: Bool, requestEnded: Bool) {
        exchange.requestEnded = requestEnded
        if headEnded {
            if exchange.headIsTooLarge {
                // Not the delegate's business: half of the fields are missing.
                exchange.respond(status: 431)
                return
            }
            exchange.isAnnounced = true
            delegate?.headArrived(exchange)
        }
        if requestEnded { exchange.handOn(to: delegate) }
    }

    /// A piece of a request's body arrived.
    func dataArrived(_ exchange: HTTPExchange, _ bytes: Span<UInt8>) {
        if exchange.keepBody(bytes) { exchange.handOn(to: delegate) }
    }

    /// The peer has answered a PING of ours.
    func pingAnswered(_ number: UInt64) {
        guard number > answeredPingNumber, number <= sentPingNumber else { return }
        answeredPingNumber = number
    }
}
