// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP

/// A session's delegate that records its events and runs the test's reactions.
final class Recorder: HTTPSessionDelegate {
    /// A request as the delegate received it.
    struct Request: Equatable {
        var id: Int32
        var method: Method
        var path: String
        var body: String
        var overflowed: Bool
    }

    var headIDs: [Int32] = []
    var requests: [Request] = []
    var endedIDs: [Int32] = []
    var bodyByteCountMax = 4096
    var onHead: (HTTPExchange) -> Void = { _ in }
    var onRequest: (HTTPExchange) -> Void = { $0.respond(status: 200) }
    var onEnd: (HTTPExchange) -> Void = { _ in }

    func headTooLarge(_ exchange: HTTPExchange) { exchange.respond(status: 431) }

    func headArrived(_ exchange: HTTPExchange) {
        headIDs.append(exchange.id)
        exchange.bodyByteCountMax = bodyByteCountMax
        onHead(exchange)
    }

    func requestArrived(_ exchange: HTTPExchange) {
        requests.append(
            Request(
                id: exchange.id, method: exchange.method, path: exchange.fields.text(exchange.path),
                body: String(decoding: exchange.body, as: UTF8.self), overflowed: exchange.bodyOverflowed))
        onRequest(exchange)
    }

    func exchangeEnded(_ exchange: HTTPExchange) {
        endedIDs.append(exchange.id)
        onEnd(exchange)
    }
}

extension HTTPSessionLimits {
    /// The limits of most tests.
    static let usual = HTTPSessionLimits(
        concurrentStreamCountMax: 1000, headerListByteCountMax: 16_384, advertisedHeaderListByteCountMax: 8000,
        headerFieldCountMax: 64)
}

extension HTTPExchange {
    /// Sends the bytes of an array.
    func send(_ bytes: [UInt8]) { send(bytes.span) }

    /// Adds a field whose value is text.
    func addField(_ name: StaticString, text: String) { addField(name, Array(text.utf8).span) }
}
