// SPDX-License-Identifier: Apache-2.0

/// A publisher for a JetStream stream that counts its acknowledgements.
///
/// The server's `tls` block must contain `handshake_first`.
final class NATSPublisher: Publisher {
    private let number: Int
    private var isCreated = false

    init(_ loop: Loop, _ target: Target, _ number: Int) {
        self.number = number
        super.init(loop, target, number: number)
    }

    override func opened() {
        write("CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true}\r\n")
        write("SUB i.\(number) 1\r\n")
        let stream = #"{"name":"B","subjects":["d.*"],"storage":"file","retention":"limits"}"#
        write("PUB $JS.API.STREAM.CREATE.B i.\(number) \(stream.utf8.count)\r\n\(stream)\r\n")
    }

    override func send(_ payload: [UInt8], topic: Int) {
        noteSent()
        write("PUB d.\(topic) i.\(number) \(payload.count)\r\n")
        write(payload)
        write("\r\n")
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        while let end = bytes.offset(of: "\r\n", from: start) {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if line.begins(with: "MSG ") || line.begins(with: "HMSG ") {
                guard let space = line.lastIndex(of: 0x20) else { fail("NATS: a message without size") }
                let next = end + 2 + line.decimal(at: space + 1) + 2
                guard next <= bytes.count else { break }
                answered(UnsafeRawBufferPointer(rebasing: bytes[end + 2..<next - 2]))
                start = next
            } else {
                control(line)
                start = end + 2
            }
        }
        return start
    }

    private func control(_ line: UnsafeRawBufferPointer) {
        if line.begins(with: "PING") { write("PONG\r\n") }
        if line.begins(with: "-ERR") { fail("NATS: \(String(decoding: line, as: UTF8.self))") }
    }

    private func answered(_ answer: UnsafeRawBufferPointer) {
        guard answer.offset(of: "\"error\"") == nil, answer.offset(of: "NATS/1.0 503") == nil else {
            fail("JetStream: \(String(decoding: answer, as: UTF8.self))")
        }
        guard isCreated else {
            isCreated = true
            return becomeReady()
        }
        noteAnswered()
    }
}

/// A subscriber of one subject, which does not acknowledge messages.
final class NATSDevice: Device {
    override func opened() {
        write("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB d.\(number) 1\r\nPING\r\n")
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        while let end = bytes.offset(of: "\r\n", from: start) {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if line.begins(with: "{") { load?.arrived(line) }
            if line.begins(with: "PING") { write("PONG\r\n") }
            if line.begins(with: "PONG") { becomeReady() }
            start = end + 2
        }
        return start
    }
}
