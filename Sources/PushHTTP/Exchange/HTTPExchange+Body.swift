// SPDX-License-Identifier: Apache-2.0

extension HTTPExchange {
    /// Keeps a piece of the request's body as far as the delegate wants it.
    ///
    /// - Parameter bytes: The piece, which is copied.
    /// - Returns: Whether the body has just overflowed.
    func keepBody(_ bytes: Span<UInt8>) -> Bool {
        guard !isAnswered, !bodyOverflowed else { return false }
        let room = max(bodyByteCountMax - body.count, 0)
        if bytes.count <= room {
            body.append(bytes)
            return false
        }
        body.append(bytes.extracting(0..<room))
        bodyOverflowed = true
        return true
    }

    /// Hands the request to the delegate, once, unless it is answered already.
    func handOn(to delegate: (any HTTPSessionDelegate)?) {
        guard isAnnounced, !requestWasHandedOn, !isAnswered else { return }
        requestWasHandedOn = true
        delegate?.requestArrived(self)
    }
}
