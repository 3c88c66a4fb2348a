// SPDX-License-Identifier: Apache-2.0

/// A provider's connection in a soak, with ordinary header compression; it connects, sends for a while, and closes.
final class SoakProvider: HTTP2Connection {
    private enum Question {
        case notification(number: Int, expected: Int)
        case broadcast
    }

    private struct Exchange {
        let question: Question
        let sentNanoseconds: Int
        var status = 0
    }

    private let books: SoakBooks
    private let providerToken: String
    private let deflater = Deflater()
    private var exchanges: [UInt32: Exchange] = [:]
    /// The time at which it stops sending.
    let endNanoseconds: Int

    var isIdle: Bool { exchanges.isEmpty }

    init(
        _ loop: Loop, _ target: Target, number: Int, books: SoakBooks, providerToken: String, endNanoseconds: Int
    ) {
        self.books = books
        self.providerToken = providerToken
        self.endNanoseconds = endNanoseconds
        super.init(loop, target, number: number)
    }

    /// Sends a notification and records its answer in the books.
    func send(_ number: Int, expected: Int, path: String, fields: [Field], token: String? = nil, body: [UInt8]) {
        ask(.notification(number: number, expected: expected), path, fields, token ?? providerToken, body)
    }

    func broadcast(path: String, fields: [Field], body: [UInt8]) {
        ask(.broadcast, path, fields, providerToken, body)
    }

    private func ask(_ question: Question, _ path: String, _ fields: [Field], _ token: String, _ body: [UInt8]) {
        let all: [Field] =
            [
                (":method", "POST"), (":scheme", "https"), (":authority", target.authority), (":path", path),
                ("authorization", "bearer \(token)"),
            ] + fields
        let stream = request(head: deflater.encode(all), path: [], tail: [], body: body)
        exchanges[stream] = Exchange(question: question, sentNanoseconds: monotonicNanoseconds())
    }

    override func headersArrived(stream: UInt32, status: Int) { exchanges[stream]?.status = status }

    override func streamEnded(_ stream: UInt32) {
        guard let exchange = exchanges.removeValue(forKey: stream) else { fail("an answer to nothing") }
        switch exchange.question {
        case .notification(let number, let expected):
            books.answered(
                number, status: exchange.status, expected: expected, sentNanoseconds: exchange.sentNanoseconds)
        case .broadcast: books.broadcastAnswered(status: exchange.status)
        }
    }
}
