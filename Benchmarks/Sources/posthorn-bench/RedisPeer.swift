// SPDX-License-Identifier: Apache-2.0

/// A publisher for Redis: appends each notification to its topic's stream and publishes it to its channel.
///
/// Devices do not acknowledge.
final class RedisPublisher: Publisher {
    private var replyCount = 0

    override func opened() { becomeReady() }

    override func send(_ payload: [UInt8], topic: Int) {
        noteSent()
        let size = String(payload.count)
        let name = "d\(topic)"
        write(
            "*5\r\n$4\r\nXADD\r\n$\(name.utf8.count + 1)\r\ns\(name)\r\n$1\r\n*\r\n$1\r\np\r\n$\(size)\r\n")
        write(payload)
        write("\r\n*3\r\n$7\r\nPUBLISH\r\n$\(name.utf8.count)\r\n\(name)\r\n$\(size)\r\n")
        write(payload)
        write("\r\n")
    }

    /// Processes replies: `$15\r\n<entry id>\r\n` and `:<number>\r\n` in turn, three lines for each notification.
    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        while let end = bytes.offset(of: "\r\n", from: start) {
            if bytes[start] == UInt8(ascii: "-") {
                fail("redis: \(String(decoding: bytes[start..<end], as: UTF8.self))")
            }
            if bytes[start] == UInt8(ascii: ":") { noteAnswered() }
            start = end + 2
        }
        return start
    }
}

/// A subscriber of one Redis channel.
final class RedisDevice: Device {
    override func opened() { write("*2\r\n$9\r\nSUBSCRIBE\r\n$\("d\(number)".utf8.count)\r\nd\(number)\r\n") }

    /// Processes messages, which end with the payload; the payload contains no line end, and its stamp identifies it.
    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        while let end = bytes.offset(of: "\r\n", from: start) {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if line.begins(with: "{") { load?.arrived(line) }
            if line.begins(with: "-") { fail("redis: \(String(decoding: line, as: UTF8.self))") }
            if !isReady, line.begins(with: ":1") { becomeReady() }
            start = end + 2
        }
        return start
    }
}
