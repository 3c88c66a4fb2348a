// SPDX-License-Identifier: Apache-2.0

/// Owns the exchanges of one session: the open ones and some that wait to be used again.
struct ExchangePool {
    private(set) var open: [HTTPExchange] = []
    private var idle: [HTTPExchange] = []
    /// Memory of requests that were read and of answers that are out, the last used on top: the processor's caches still
    /// hold it, and many open exchanges share little.
    private var spareFields: [FieldTable] = []
    private var spareBodies: [RequestBody] = []
    private var spareAnswers: [AnswerFields] = []
    /// Bytes of what waits to be used again.
    private(set) var spareByteCount = 0
    /// Bytes of what waits to be used again at most.
    var spareByteCountMax = HTTPBounds.retainedByteCountMax / HTTPBounds.spareShare

    init() {}

    /// Opens an exchange, in constant time and usually without an allocation.
    ///
    /// - Parameters:
    ///   - id: The exchange's identifier on the session.
    ///   - owner: The session, which must detach the exchange before it goes.
    /// - Returns: An exchange without a trace of earlier ones.
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

    /// Takes an exchange out of the open ones, in constant time.
    mutating func remove(_ exchange: HTTPExchange) {
        let index = exchange.openIndex
        precondition(open.indices.contains(index) && open[index] === exchange, "an exchange was closed twice")
        let last = open.removeLast()
        guard last !== exchange else { return }
        open[index] = last
        last.openIndex = index
    }

    /// Lends memory to a body of which nothing has come.
    mutating func lendBody(to exchange: HTTPExchange) {
        guard exchange.requestBody.isWithoutMemory, let body = spareBodies.popLast() else { return }
        spareByteCount -= body.heldByteCount
        exchange.requestBody.adopt(body)
    }

    /// Lends memory to an answer that is about to be given.
    mutating func lendAnswerFields(to exchange: HTTPExchange) {
        guard exchange.answer.state == .none else { return }
        guard let fields = spareAnswers.popLast() else { return exchange.answer.fields = AnswerFields.withRoom }
        spareByteCount -= fields.heldByteCount
        exchange.answer.fields = fields
    }

    /// Takes the request's memory from an exchange that needs it no more.
    mutating func takeRequest(of exchange: HTTPExchange) {
        let fields = exchange.head.surrender()
        if spareFields.count < HTTPBounds.pooledExchangeCountMax, keeps(fields.heldByteCount) {
            spareFields.append(fields)
        }
        let body = exchange.requestBody.surrender()
        if spareBodies.count < HTTPBounds.spareBufferCountMax, keeps(body.heldByteCount) { spareBodies.append(body) }
    }

    /// Takes the memory of an answer's fields, which have been put out.
    mutating func take(_ fields: consuming AnswerFields) {
        if spareAnswers.count < HTTPBounds.pooledExchangeCountMax, keeps(fields.heldByteCount) {
            spareAnswers.append(fields)
        }
    }

    /// Gives back what waits to be used again, and what open streams have for the next that they send.
    mutating func rest() {
        for exchange in open { exchange.answer.body.rest() }
        dropSpares()
    }

    /// Gives back what waits to be used again.
    mutating func dropSpares() {
        guard spareByteCount > 0 else { return }
        idle = []
        spareFields = []
        spareBodies = []
        spareAnswers = []
        spareByteCount = 0
    }

    /// Keeps an exchange that was removed for another request, as far as there is room.
    mutating func recycle(_ exchange: HTTPExchange) {
        exchange.reset()
        if idle.count < HTTPBounds.pooledExchangeCountMax, keeps(exchange.heldByteCount) { idle.append(exchange) }
    }

    private mutating func takeIdle() -> HTTPExchange {
        guard let exchange = idle.popLast() else { return HTTPExchange() }
        spareByteCount -= exchange.heldByteCount
        return exchange
    }

    /// Counts a spare buffer; false when there is no room for it.
    private mutating func keeps(_ byteCount: Int) -> Bool {
        guard byteCount <= spareByteCountMax - spareByteCount else { return false }
        spareByteCount += byteCount
        return true
    }
}
