// SPDX-License-Identifier: Apache-2.0

/// Owns the exchanges of one session: the open ones and some that wait to be used again.
struct ExchangePool {
    private(set) var open: [HTTPExchange] = []
    private var idle: [HTTPExchange] = []

    init() {}

    /// Opens an exchange, in constant time and usually without an allocation.
    ///
    /// - Parameters:
    ///   - id: The exchange's identifier on the session.
    ///   - owner: The session, which must detach the exchange before it goes.
    /// - Returns: An exchange without a trace of earlier ones.
    mutating func acquire(id: Int32, owner: any ExchangeOwner) -> HTTPExchange {
        let exchange = idle.popLast() ?? HTTPExchange()
        exchange.attach(to: owner, id: id)
        exchange.openIndex = open.count
        open.append(exchange)
        return exchange
    }

    /// Takes an exchange out of the open ones, in constant time.
    mutating func remove(_ exchange: HTTPExchange) {
        let index = exchange.openIndex
        precondition(open.indices.contains(index) && open[index] === exchange, "an exchange was closed twice")
        open.swapAt(index, open.count - 1)
        open[index].openIndex = index
        open.removeLast()
    }

    /// Keeps an exchange that was removed for another request, as far as there is room.
    mutating func recycle(_ exchange: HTTPExchange) {
        exchange.reset()
        if idle.count < HTTPBounds.pooledExchangeCountMax { idle.append(exchange) }
    }
}
