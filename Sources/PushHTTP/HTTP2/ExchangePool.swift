// SPDX-License-Identifier: Apache-2.0

/// The exchanges of one session: the open ones, and idle ones kept for reuse.
struct ExchangePool {
    private(set) var open: [HTTPExchange] = []
    private var idle: [HTTPExchange] = []
    /// Spare memory of finished requests and sent answers, most recently used last: it is still in the processor's
    /// caches, and many open exchanges share a few buffers.
    private var spareFields: [FieldTable] = []
    private var spareBodies: [RequestBody] = []
    private var spareAnswers: [AnswerFields] = []
    /// The number of bytes in idle exchanges and spare buffers.
    private(set) var spareByteCount = 0
    /// The largest number of bytes in idle exchanges and spare buffers.
    var spareByteCountMax = HTTPBounds.retainedByteCountMax / HTTPBounds.spareShare

    init() {}

    /// Opens an exchange, in constant time and usually without an allocation.
    ///
    /// - Parameters:
    ///   - id: The exchange's identifier on the session.
    ///   - owner: The session, which must detach the exchange before it is deallocated.
    /// - Returns: An exchange in its initial state.
    mutating func acquire(id: Int32, owner: any ExchangeOwner) -> HTTPExchange {
        let exchange = takeIdle()
        exchange.attach(to: owner, id: id)
        if let fields = spareFields.popLast() {
            spareByteCount -= fields.heldByteCount
            exchange.head.adopt(fields)
        }
        exchange.openIndex = open.count
        open.append(exchange)
        return exchange
    }

    /// Removes an exchange from the open ones, in constant time.
    mutating func remove(_ exchange: HTTPExchange) {
        let index = exchange.openIndex
        precondition(open.indices.contains(index) && open[index] === exchange, "an exchange was closed twice")
        let last = open.removeLast()
        guard last !== exchange else { return }
        open[index] = last
        last.openIndex = index
    }

    /// Gives spare memory to an empty body.
    mutating func lendBody(to exchange: HTTPExchange) {
        guard exchange.requestBody.isWithoutMemory, let body = spareBodies.popLast() else { return }
        spareByteCount -= body.heldByteCount
        exchange.requestBody.adopt(body)
    }

    /// Gives spare memory to an answer that has not begun.
    mutating func lendAnswerFields(to exchange: HTTPExchange) {
        guard exchange.answer.state == .none else { return }
        guard let fields = spareAnswers.popLast() else { return exchange.answer.fields = AnswerFields.withRoom }
        spareByteCount -= fields.heldByteCount
        exchange.answer.fields = fields
    }

    /// Reclaims the request's memory from an exchange that no longer needs it.
    mutating func takeRequest(of exchange: HTTPExchange) {
        let fields = exchange.head.surrender()
        if spareFields.count < HTTPBounds.pooledExchangeCountMax, keeps(fields.heldByteCount) {
            spareFields.append(fields)
        }
        let body = exchange.requestBody.surrender()
        if spareBodies.count < HTTPBounds.spareBufferCountMax, keeps(body.heldByteCount) { spareBodies.append(body) }
    }

    /// Reclaims the memory of an answer's fields, which have been sent.
    mutating func take(_ fields: consuming AnswerFields) {
        if spareAnswers.count < HTTPBounds.pooledExchangeCountMax, keeps(fields.heldByteCount) {
            spareAnswers.append(fields)
        }
    }

    /// Releases all spare memory, and the unused memory of open streams' bodies.
    mutating func rest() {
        for exchange in open { exchange.answer.body.rest() }
        dropSpares()
    }

    /// Releases all spare memory.
    mutating func dropSpares() {
        guard spareByteCount > 0 else { return }
        idle = []
        spareFields = []
        spareBodies = []
        spareAnswers = []
        spareByteCount = 0
    }

    /// Keeps a removed exchange for reuse if the limits allow it.
    mutating func recycle(_ exchange: HTTPExchange) {
        exchange.reset()
        if idle.count < HTTPBounds.pooledExchangeCountMax, keeps(exchange.heldByteCount) { idle.append(exchange) }
    }

    private mutating func takeIdle() -> HTTPExchange {
        guard let exchange = idle.popLast() else { return HTTPExchange() }
        spareByteCount -= exchange.heldByteCount
        return exchange
    }

    /// Counts a spare buffer; returns false if the limits do not allow it.
    private mutating func keeps(_ byteCount: Int) -> Bool {
        guard byteCount <= spareByteCountMax - spareByteCount else { return false }
        spareByteCount += byteCount
        return true
    }
}
