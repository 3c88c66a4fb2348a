// SPDX-License-Identifier: Apache-2.0

/// A subscriber of nchan over server-sent events and HTTP/1.1; nchan has no acknowledgements.
final class NchanDevice: Device {
    private let channel: String

    init(_ loop: Loop, _ target: Target, _ number: Int, channel: String) {
        self.channel = channel
        super.init(loop, target, number)
    }

    override func opened() {
        write(
            "GET /sub/\(channel) HTTP/1.1\r\nHost: \(target.authority)\r\nAccept: text/event-stream\r\n\r\n")
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        while let end = bytes.offset(of: "\n", from: start) {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if !isReady, line.begins(with: "HTTP/1.1 ") {
                guard line.begins(with: "HTTP/1.1 200") else { fail("nchan: \(String(decoding: line, as: UTF8.self))") }
                becomeReady()
            }
            if line.begins(with: "data: {") { load?.arrived(line) }
            start = end + 1
        }
        return start
    }
}
