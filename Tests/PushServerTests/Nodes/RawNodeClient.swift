// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushCore
import PushNet
import PushTLS
import PushWebSocket
import TestSupport

@testable import PushCluster

/// A client that speaks the protocol of links by hand, on a blocking thread.
final class RawNodeClient: WebSocketDelegate {
    /// The answer to a request.
    struct Answer {
        var head: String
        var body: String
        /// The status; 0 if the server closed the connection.
        var status: Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
        fileprivate var bodyByteCount: Int {
            let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            return line.flatMap { Int($0.dropFirst(16)) } ?? 0
        }
    }

    /// The error for a server that does not answer.
    struct NoAnswer: Error {}

    static let keyField = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="

    /// The fields of a valid request for a link.
    static func linkFields(subprotocol: String = "posthorn.node.v1") -> [String] {
        [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", keyField,
            "Sec-WebSocket-Protocol: \(subprotocol)",
        ]
    }

    private let descriptor: FileDescriptor
    private let tls: TLSConnection
    private let socket: WebSocketConnection
    private(set) var packets: [[UInt8]] = []
    private(set) var isClosed = false
    /// The close code and reason from the server; nil before.
    var closure: WebSocketConnection.Closure? { socket.closure }

    /// Connects to a node and completes the TLS handshake.
    init(_ credentials: PeerCredentials, to name: String, port: UInt16) throws {
        descriptor = try Sockets.connect(host: "127.0.0.1", port: port)
        try Self.wait(descriptor.rawValue, POLLOUT)
        tls = try TLSConnection(TLSContext(connectingWith: credentials), to: name, descriptor: descriptor.rawValue)
        let engine = WebSocketEngine(role: .client, messageKind: .binary, messageByteCountMax: 1 << 20) { 1 }
        socket = WebSocketConnection(engine: engine)
        while true {
            switch try tls.handshake() {
            case .done: return
            case .wantsRead: try Self.wait(descriptor.rawValue, POLLIN)
            case .wantsWrite: try Self.wait(descriptor.rawValue, POLLOUT)
            }
        }
    }

    private static func wait(_ socket: Int32, _ events: Int32) throws {
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        guard unsafe poll(&entry, 1, 30_000 * Int32(Patience.factor)) == 1 else {
            throw NoAnswer()
        }
    }

    /// Sends a request and reads the answer.
    func ask(_ method: String = "GET", _ path: String = "/v1/node", _ fields: [String] = linkFields()) throws -> Answer
    {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: node"] + fields
        try write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        var head: [UInt8] = []
        while !head.contains("\r\n\r\n".utf8), let bytes = try read(byteCountMax: 1) { head += bytes }
        var answer = Answer(head: String(decoding: head, as: UTF8.self), body: "")
        var body: [UInt8] = []
        while body.count < answer.bodyByteCount, let bytes = try read(byteCountMax: answer.bodyByteCount) {
            body += bytes
        }
        answer.body = String(decoding: body, as: UTF8.self)
        return answer
    }

    /// Sends a binary message on the open link.
    func send(_ packet: [UInt8]) throws {
        socket.send(binary: packet.span)
        try flush()
    }

    /// Sends a text message, which no link may have.
    func sendText(_ text: String) throws {
        socket.send(text: text.utf8.span)
        try flush()
    }

    private func flush() throws {
        var output: [UInt8] = []
        socket.collectOutput(into: &output, limit: .max)
        try write(output)
    }

    /// Reads until the next packet has arrived, or the server has closed.
    func receive() throws {
        let count = packets.count
        while packets.count == count, closure == nil, !isClosed {
            guard let bytes = try read(byteCountMax: 16 << 10) else {
                isClosed = true
                return
            }
            socket.receive(bytes.span, for: self)
            if closure == nil { try flush() }
        }
    }

    /// Reads what has arrived, without waiting.
    func receiveArrived() throws {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        while closure == nil, !isClosed {
            switch try unsafe bytes.withUnsafeMutableBytes({ try unsafe tls.read(into: $0) }) {
            case .bytes(let count): socket.receive(bytes.span.extracting(first: count), for: self)
            case .closed: isClosed = true
            case .wantsRead, .wantsWrite: return
            }
        }
    }

    func received(binary: Span<UInt8>) { packets.append(binary.indices.map { binary[$0] }) }

    func received(pong: Span<UInt8>) {}

    private func read(byteCountMax: Int) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteCountMax)
        while true {
            switch try unsafe bytes.withUnsafeMutableBytes({ try unsafe tls.read(into: $0) }) {
            case .bytes(let count): return Array(bytes.prefix(count))
            case .closed: return nil
            case .wantsRead: try Self.wait(descriptor.rawValue, POLLIN)
            case .wantsWrite: try Self.wait(descriptor.rawValue, POLLOUT)
            }
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch try unsafe rest.withUnsafeBytes({ try unsafe tls.write($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wantsRead: try Self.wait(descriptor.rawValue, POLLIN)
            case .wantsWrite: try Self.wait(descriptor.rawValue, POLLOUT)
            case .closed: return
            }
        }
    }
}
