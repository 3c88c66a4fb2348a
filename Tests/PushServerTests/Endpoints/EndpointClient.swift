// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// An HTTP/2 client on a connection of an `EndpointHarness`; each request is sent and answered within some turns.
final class EndpointClient {
    /// The complete answer to a request.
    struct Answer {
        var fields: [String: String] = [:]
        var body: [UInt8] = []
        var isComplete = false

        var status: Int { fields[":status"].flatMap { Int($0) } ?? 0 }

        /// The members of the JSON body.
        var members: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        }

        /// The rejection reason; nil for a success.
        var reason: String? { members["reason"] as? String }
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The client's socket.
    let descriptor: Int32
    private let harness: EndpointHarness
    private var input: [UInt8] = []
    private var hpack = HPACK()
    private var lastStream: Int32 = -1
    private var answers: [Int32: Answer] = [:]
    /// The number of bytes of bodies that the server permits.
    private var window = 65_535

    init(_ socket: Int32, of harness: EndpointHarness) {
        descriptor = socket
        self.harness = harness
        send(Self.preface + Frame.settings().bytes)
    }

    deinit { close(descriptor) }

    /// Sends a request and waits for its answer.
    func ask(_ fields: [(String, String)], body: [UInt8]) throws -> Answer {
        let stream = open(fields, body: body)
        return try answer(on: stream)
    }

    /// Sends a request, the body as far as the server permits; returns its stream.
    func open(_ fields: [(String, String)], body: [UInt8]) -> Int32 {
        lastStream += 2
        answers[lastStream] = Answer()
        var bytes = Frame.headers(lastStream, fields, end: body.isEmpty).bytes
        var start = 0
        while start < min(body.count, window) {
            let end = min(start + 16_384, body.count, window)
            bytes += Frame.data(lastStream, Array(body[start..<end]), end: end == body.count).bytes
            start = end
        }
        send(bytes)
        return lastStream
    }

    /// Resets a request.
    func reset(_ stream: Int32) { send(Frame.reset(stream).bytes) }

    /// Runs the loop until a request is answered.
    func answer(on stream: Int32) throws -> Answer {
        for _ in 0..<50 {
            harness.turn()
            receive()
            if let answer = answers[stream], answer.isComplete { return answer }
        }
        throw Unanswered(stream: stream)
    }

    private func send(_ bytes: [UInt8]) {
        let count = unsafe bytes.withUnsafeBytes { unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, 0) }
        precondition(count == bytes.count, "the socket buffer holds every request of the tests")
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { break }
            input += buffer[..<count]
        }
        for frame in Frame.take(from: &input) { take(frame) }
    }

    private func take(_ frame: Frame) {
        switch frame.type {
        case Frame.Kind.headers: answers[frame.stream]?.fields = hpack.read(frame.payload) ?? ["unreadable": ""]
        case Frame.Kind.data: answers[frame.stream]?.body += frame.payload
        default: break
        }
        if frame.endsStream { answers[frame.stream]?.isComplete = true }
    }

    /// Reports that a request has no answer after many turns of the loop.
    struct Unanswered: Error {
        let stream: Int32
    }
}
