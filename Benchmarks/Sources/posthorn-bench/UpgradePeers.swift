// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A provider's connection during an upgrade: after GOAWAY it sends nothing, and waits for the outstanding answers.
final class UpgradeProvider: HTTP2Connection {
    /// A request without its answer.
    struct Exchange {
        let number: Int
        let device: Int
        var status = 0
    }

    private let books: UpgradeBooks
    private let deflater = Deflater()
    private var exchanges: [UInt32: Exchange] = [:]
    private(set) var isLeaving = false
    /// The end of the pause that an outage makes on this connection after an answer with 503.
    var restNanoseconds = 0
    /// Receives each request that must be sent again, on another connection.
    var again: (Exchange) -> Void = { _ in }

    override var canSend: Bool { super.canSend && !isLeaving }
    /// Whether the connection can be closed.
    var isDone: Bool { isLeaving && exchanges.isEmpty }

    init(_ loop: Loop, _ target: Target, number: Int, books: UpgradeBooks) {
        self.books = books
        super.init(loop, target, number: number)
    }

    func send(_ number: Int, to device: Int, fields: [Field], body: [UInt8]) {
        let stream = request(head: deflater.encode(fields), path: [], tail: [], body: body)
        exchanges[stream] = Exchange(number: number, device: device)
    }

    override func headersArrived(stream: UInt32, status: Int) { exchanges[stream]?.status = status }

    override func streamEnded(_ stream: UInt32) {
        guard let exchange = exchanges.removeValue(forKey: stream) else { fail("an answer on an unknown stream") }
        guard exchange.status != 200 else { return books.accept(exchange.number) }
        guard exchange.status >= 500 else { fail("a notification was answered with status \(exchange.status)") }
        books.rejected += 1
        again(exchange)
    }

    override func goAwayArrived(lastStream: UInt32, reason: String) {
        isLeaving = true
        for (stream, exchange) in exchanges where stream > lastStream {
            exchanges[stream] = nil
            books.unprocessed += 1
            again(exchange)
        }
    }

    override func lost(_ reason: String) {
        if !isLeaving { books.note(reason) }
        isLeaving = true
        books.unanswered += exchanges.count
        exchanges.values.forEach(again)
        exchanges = [:]
    }
}

/// A device during an upgrade, which connects again when its stream ends.
final class UpgradeDevice: WebSocketDevice {
    private let books: UpgradeBooks
    private(set) var isLost = false
    /// Whether the node has refused the stream.
    private(set) var isRefused = false

    init(_ loop: Loop, _ target: Target, _ number: Int, _ identity: DeviceIdentity, books: UpgradeBooks) {
        self.books = books
        super.init(loop, target, number, identity)
    }

    override func arrived(_ message: UnsafeRawBufferPointer, sequence: Int) -> Bool {
        guard let stamp = Payload.stamp(in: message) else { fail("a delivery without a stamp") }
        books.arrived(stamp.number, at: number, sequence: sequence, message)
        return true
    }

    override func refused(_ answer: String) {
        guard answer.hasPrefix("HTTP/1.1 503") else { return super.refused(answer) }
        books.refusedStreams += 1
        (isLost, isRefused) = (true, true)
        close()
    }

    override func lost(_ reason: String) {
        // The server ends all streams when it stops, so only a failed connection attempt is a fault.
        if isReady { books.streamEnded(of: number, reason) } else { books.note(reason) }
        isLost = true
    }
}

extension UpgradeBooks {
    /// Records the unexpected end of a connection.
    func note(_ reason: String) {
        if reason.hasSuffix("errno \(ECONNREFUSED)") { refusedConnections += 1 } else { brokenConnections += 1 }
    }
}
