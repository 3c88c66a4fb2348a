// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark

/// A device of posthornd with a WebSocket; it acknowledges on the same connection.
class WebSocketDevice: Device {
    private let identity: DeviceIdentity
    private var isUpgraded = false

    init(
        _ loop: Loop, _ target: Target, _ number: Int, _ identity: DeviceIdentity, session: OpaquePointer? = nil
    ) {
        self.identity = identity
        super.init(loop, target, number, session: session)
    }

    override func opened() {
        write(
            "GET /v1/stream HTTP/1.1\r\nHost: \(target.authority)\r\nAuthorization: Bearer \(identity.secret)\r\n"
                + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: posthorn.v1\r\n"
                + "Posthorn-Heartbeat: 120\r\n\r\n")
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        if !isUpgraded {
            guard let end = bytes.offset(of: "\r\n\r\n") else { return 0 }
            guard bytes.begins(with: "HTTP/1.1 101") else {
                refused(String(decoding: bytes.prefix(300), as: UTF8.self))
                return bytes.count
            }
            isUpgraded = true
            becomeReady()
            start = end + 4
        }
        var acknowledged: [Int] = []
        while let frame = Self.frame(in: bytes, at: start) {
            let body = UnsafeRawBufferPointer(rebasing: bytes[frame.body])
            switch bytes[start] & 15 {
            case 1: notificationArrived(body, &acknowledged)
            case 8: ended("closed by the server: \(String(decoding: body.dropFirst(2), as: UTF8.self))")
            case 9: send(opcode: 10, Array(body))
            default: break
            }
            start = frame.body.upperBound
        }
        if !acknowledged.isEmpty { acknowledge(acknowledged) }
        return start
    }

    /// Handles an answer that refuses the stream, which fails unless a scenario expects it.
    func refused(_ answer: String) { fail("no WebSocket: \(answer)") }

    private func ended(_ reason: String) {
        close()
        lost(reason)
    }

    private func notificationArrived(_ message: UnsafeRawBufferPointer, _ acknowledged: inout [Int]) {
        guard message.begins(with: #"{"notification":"#), let found = message.offset(of: #""id":"#) else { return }
        let id = message.decimal(at: found + 5)
        if arrived(message, sequence: id), id > 0 { acknowledged.append(id) }
    }

    /// Handles a notification, and returns whether to acknowledge it.
    func arrived(_ message: UnsafeRawBufferPointer, sequence: Int) -> Bool {
        load?.arrived(message)
        return true
    }

    private func acknowledge(_ ids: [Int]) {
        var text = #"{"acks":["#
        for (index, id) in ids.enumerated() {
            text += index == 0 ? #"{"id":\#(id),"outcome":"delivered"}"# : #",{"id":\#(id),"outcome":"delivered"}"#
        }
        text += "]}"
        send(opcode: 1, Array(text.utf8))
    }

    /// Sends a masked frame, as required for clients; a zero mask leaves the bytes unchanged.
    private func send(opcode: UInt8, _ body: [UInt8]) {
        var frame = [0x80 | opcode]
        if body.count < 126 {
            frame.append(0x80 | UInt8(body.count))
        } else {
            frame.append(0x80 | 126)
            frame.append(bigEndian: UInt32(body.count), bytes: 2)
        }
        write(frame + [0, 0, 0, 0] + body)
    }

    /// Returns the position of the next complete frame's body.
    private static func frame(in bytes: UnsafeRawBufferPointer, at start: Int) -> (body: Range<Int>, Void)? {
        guard bytes.count - start >= 2 else { return nil }
        var length = Int(bytes[start + 1] & 127)
        var body = start + 2
        if length == 126 {
            guard bytes.count - start >= 4 else { return nil }
            length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
            body += 2
        } else if length == 127 {
            fail("a WebSocket frame of more than 64 KiB")
        }
        return bytes.count >= body + length ? (body..<body + length, ()) : nil
    }
}

/// Acknowledges for devices that cannot do so on their own stream: HTTP/2, many devices on one connection.
final class AcknowledgingConnection: HTTP2Connection {
    private var devices: [UInt32: EventStreamDevice] = [:]
    /// The acknowledgements for which no stream is available yet.
    private var queue: [(ids: [Int], secret: String, device: EventStreamDevice)] = []

    func acknowledge(_ ids: [Int], secret: String, for device: EventStreamDevice) {
        guard canSend else { return queue.append((ids, secret, device)) }
        let body =
            #"{"acks":["#
            + ids.map { #"{"id":\#($0),"outcome":"delivered"}"# }.joined(separator: ",") + "]}"
        let fields: [Field] = [
            (":method", "POST"), (":scheme", "https"), (":authority", target.authority), (":path", "/v1/acks"),
            ("authorization", "Bearer \(secret)"), ("content-type", "application/json"),
        ]
        let stream = request(head: HeaderBlocks.literal(fields), path: [], tail: [], body: Array(body.utf8))
        devices[stream] = device
    }

    override func headersArrived(stream: UInt32, status: Int) {
        guard status == 204 else { fail("an acknowledgement was answered with status \(status)") }
    }

    override func streamEnded(_ stream: UInt32) {
        devices.removeValue(forKey: stream)?.acknowledged()
        guard canSend, let next = queue.popLast() else { return }
        acknowledge(next.ids, secret: next.secret, for: next.device)
    }
}

/// A device of posthornd with a stream of server-sent events over HTTP/1.1.
final class EventStreamDevice: Device {
    private let identity: DeviceIdentity
    private let acknowledgements: AcknowledgingConnection?
    private var waiting: [Int] = []
    private var isAcknowledging = false

    init(
        _ loop: Loop, _ target: Target, _ number: Int, _ identity: DeviceIdentity,
        _ acknowledgements: AcknowledgingConnection?, session: OpaquePointer? = nil
    ) {
        self.identity = identity
        self.acknowledgements = acknowledgements
        super.init(loop, target, number, session: session)
    }

    override func opened() {
        write(
            "GET /v1/stream HTTP/1.1\r\nHost: \(target.authority)\r\nAuthorization: Bearer \(identity.secret)\r\n"
                + "Accept: text/event-stream\r\nPosthorn-Heartbeat: 120\r\n\r\n")
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        if !isReady {
            guard let end = bytes.offset(of: "\r\n\r\n") else { return 0 }
            guard bytes.begins(with: "HTTP/1.1 200") else {
                fail("no event stream: \(String(decoding: bytes.prefix(300), as: UTF8.self))")
            }
            becomeReady()
            start = end + 4
        }
        // The chunk sizes are between events, and never contain an empty line.
        while let end = bytes.offset(of: "\n\n", from: start) {
            eventArrived(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            start = end + 2
        }
        acknowledgeWaiting()
        return start
    }

    private func eventArrived(_ event: UnsafeRawBufferPointer) {
        guard event.offset(of: "event: notification") != nil, let found = event.offset(of: #""id":"#) else { return }
        load?.arrived(event)
        let id = event.decimal(at: found + 5)
        if id > 0 { waiting.append(id) }
    }

    /// Sends one request at a time, as the agent does; later acknowledgements go with the next request.
    private func acknowledgeWaiting() {
        guard !isAcknowledging, !waiting.isEmpty, let acknowledgements else { return }
        isAcknowledging = true
        acknowledgements.acknowledge(waiting, secret: identity.secret, for: self)
        waiting = []
    }

    func acknowledged() {
        isAcknowledging = false
        acknowledgeWaiting()
    }
}

/// A device of posthornd with a stream of server-sent events over HTTP/2; it acknowledges on the same connection.
final class HTTP2Device: HTTP2Connection {
    private let identity: DeviceIdentity
    private var event: [UInt8] = []
    private var stream: UInt32 = 0
    var isStreaming = false

    init(_ loop: Loop, _ target: Target, _ number: Int, _ identity: DeviceIdentity) {
        self.identity = identity
        super.init(loop, target, number: number)
    }

    private func fields(_ method: String, _ path: String) -> [Field] {
        [
            (":method", method), (":scheme", "https"), (":authority", target.authority), (":path", path),
            ("authorization", "Bearer \(identity.secret)"),
        ]
    }

    override func becomeReady() {
        guard stream == 0 else { return }
        stream = request(head: HeaderBlocks.literal(fields("GET", "/v1/stream")), path: [], tail: [], body: [])
    }

    override func headersArrived(stream: UInt32, status: Int) {
        guard status == (stream == self.stream ? 200 : 204) else { fail("a device was answered with status \(status)") }
        guard stream == self.stream else { return }
        isStreaming = true
        super.becomeReady()
    }

    override func dataArrived(stream: UInt32, _ bytes: UnsafeRawBufferPointer) {
        guard stream == self.stream else { return }
        event.append(contentsOf: bytes)
        event.withUnsafeBytes { bytes in
            guard bytes.offset(of: "\n\n") != nil, let found = bytes.offset(of: #""id":"#) else { return }
            load?.arrived(bytes)
            let id = bytes.decimal(at: found + 5)
            if id > 0 { acknowledge(id) }
        }
        if event.withUnsafeBytes({ $0.offset(of: "\n\n") != nil }) { event = [] }
    }

    private func acknowledge(_ id: Int) {
        _ = request(
            head: HeaderBlocks.literal(fields("POST", "/v1/acks")), path: [], tail: [],
            body: Array(#"{"acks":[{"id":\#(id),"outcome":"delivered"}]}"#.utf8))
    }
}
