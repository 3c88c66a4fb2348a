// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The open exchanges of a session, with the memory that they hold.
@safe
struct HTTP2Exchanges {
    var pool = ExchangePool()
    /// The number of bytes that the open exchanges hold, as of the last `recount` of each.
    private(set) var heldByteCount = 0
    /// The number of open exchanges that wait for the connection's window.
    var windowWaiterCount = 0
    /// The number of answers so far, up to `HTTPBounds.indexedAnswerCountMax`.
    private var indexedAnswerCount = 0
    /// The exchange of the most recently opened stream, while it is open: nearly all fields belong to it.
    // Safety: `end` clears this before the pool releases the exchange.
    private(set) var latest: Unmanaged<HTTPExchange>?

    /// Opens an exchange.
    ///
    /// - Parameters:
    ///   - id: The stream's identifier.
    ///   - owner: The session.
    ///   - now: The current time.
    /// - Returns: The exchange, which is retained by the pool.
    mutating func begin(_ id: Int32, owner: any ExchangeOwner, now: MonotonicTime) -> Unmanaged<HTTPExchange> {
        let exchange = pool.acquire(id: id, owner: owner)
        exchange.countedByteCount = HTTPBounds.exchangeByteCount
        heldByteCount += HTTPBounds.exchangeByteCount
        // The head may arrive in pieces, so the time starts with its first piece.
        exchange.beganAt = now
        let unmanaged = unsafe Unmanaged.passUnretained(exchange)
        unsafe latest = unmanaged
        return unsafe unmanaged
    }

    /// Removes an exchange from the open ones; the pool does not reuse it before `ExchangePool.recycle`.
    mutating func end(_ exchange: HTTPExchange) {
        unsafe latest = nil
        exchange.detach()
        heldByteCount -= exchange.countedByteCount
        pool.remove(exchange)
        if exchange.answer.waitsForWindow { windowWaiterCount -= 1 }
    }

    /// Returns the exchange of the most recently opened stream if it has this identifier and is open.
    func latest(_ id: Int32) -> HTTPExchange? {
        guard let latest = unsafe latest, unsafe latest._withUnsafeGuaranteedRef({ $0.id == id }) else { return nil }
        return unsafe latest.takeUnretainedValue()
    }

    /// Counts an answer; returns whether it is one of the first, whose fields are all put into the HPACK table.
    mutating func takeIndexedAnswer() -> Bool {
        guard indexedAnswerCount < HTTPBounds.indexedAnswerCountMax else { return false }
        indexedAnswerCount += 1
        return true
    }

    /// Updates the number of bytes that an exchange holds, after it grew or shrank.
    mutating func recount(_ exchange: HTTPExchange) {
        guard exchange.isOpen else { return }
        let byteCount = exchange.heldByteCount
        heldByteCount += byteCount - exchange.countedByteCount
        exchange.countedByteCount = byteCount
    }
}
