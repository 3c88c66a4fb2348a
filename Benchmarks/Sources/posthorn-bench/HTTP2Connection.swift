// SPDX-License-Identifier: Apache-2.0

/// A minimal HTTP/2 client for the generator: sends complete requests, and receives statuses and bodies.
///
/// Frames are written by hand, because a client library would cost more than the measured servers. Any unexpected frame
/// (reset, CONTINUATION, or GOAWAY that no subclass handles) ends the program.
class HTTP2Connection: Publisher {
    private static let receiveWindow: UInt32 = 1 << 30
    private let inflater = Inflater()
    private var sendWindow = 65_535
    private var initialStreamWindow = 65_535
    private var streamCountMax = 100
    private var nextStream: UInt32 = 1
    private var receivedByteCount = 0
    private(set) var openStreamCount = 0

    /// Handles the status of a stream's answer; `dataArrived` handles its body, and `streamEnded` its end.
    func headersArrived(stream: UInt32, status: Int) {}
    func dataArrived(stream: UInt32, _ bytes: UnsafeRawBufferPointer) {}
    func streamEnded(_ stream: UInt32) {}

    /// Handles GOAWAY: the server processes no stream above `lastStream`.
    func goAwayArrived(lastStream: UInt32, reason: String) { fail("the server sent GOAWAY: \(reason)") }

    override var canSend: Bool { isReady && openStreamCount < streamCountMax && sendWindow > 16_384 }

    override func opened() {
        write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        // SETTINGS: no push, and a window for each stream that never closes.
        var settings = Self.header(length: 12, type: 4, flags: 0, stream: 0)
        settings += [0, 2, 0, 0, 0, 0, 0, 4]
        settings.append(bigEndian: Self.receiveWindow, bytes: 4)
        settings += windowUpdate(Self.receiveWindow - 65_535)
        write(settings)
    }

    /// Sends a complete request and returns the identifier of its stream.
    func request(head: [UInt8], path: [UInt8], tail: [UInt8], body: [UInt8]) -> UInt32 {
        let stream = nextStream
        nextStream += 2
        openStreamCount += 1
        precondition(body.count <= initialStreamWindow, "a body larger than a stream's window")
        let isWhole = body.isEmpty
        write(
            Self.header(
                length: head.count + path.count + tail.count, type: 1, flags: isWhole ? 5 : 4, stream: stream))
        write(head)
        write(path)
        write(tail)
        guard !isWhole else { return stream }
        sendWindow -= body.count
        write(Self.header(length: body.count, type: 0, flags: 1, stream: stream))
        write(body)
        return stream
    }

    private static func header(length: Int, type: UInt8, flags: UInt8, stream: UInt32) -> [UInt8] {
        [
            UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags, UInt8(stream >> 24),
            UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255),
        ]
    }

    private func windowUpdate(_ increment: UInt32) -> [UInt8] {
        var frame = Self.header(length: 4, type: 8, flags: 0, stream: 0)
        frame.append(bigEndian: increment, bytes: 4)
        return frame
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        while bytes.count - start >= 9 {
            let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            guard bytes.count - start >= 9 + length else { break }
            let frame = UnsafeRawBufferPointer(rebasing: bytes[start + 9..<start + 9 + length])
            let stream = bytes.loadUnaligned(fromByteOffset: start + 5, as: UInt32.self).bigEndian & 0x7fff_ffff
            frameArrived(type: bytes[start + 3], flags: bytes[start + 4], stream: stream, frame)
            start += 9 + length
        }
        return start
    }

    private func frameArrived(type: UInt8, flags: UInt8, stream: UInt32, _ frame: UnsafeRawBufferPointer) {
        switch type {
        case 0:
            receivedByteCount += frame.count
            if receivedByteCount > Int(Self.receiveWindow / 2) {
                write(windowUpdate(UInt32(receivedByteCount)))
                receivedByteCount = 0
            }
            dataArrived(stream: stream, frame)
            if flags & 1 != 0 { end(stream) }
        case 1:
            guard flags & 0x2c == 4 else { fail("a HEADERS frame that is padded or not whole") }
            let status = inflater.status(in: frame)
            if status >= 200 { headersArrived(stream: stream, status: status) }
            if flags & 1 != 0 { end(stream) }
        case 3: fail("the server reset a stream: code \(number(frame, at: 0))")
        case 4: settingsArrived(isAcknowledgement: flags & 1 != 0, frame)
        case 6: if flags & 1 == 0 { write(Self.header(length: 8, type: 6, flags: 1, stream: 0) + Array(frame)) }
        case 7:
            let reason = String(decoding: frame.dropFirst(8), as: UTF8.self)
            goAwayArrived(lastStream: number(frame, at: 0) & 0x7fff_ffff, reason: reason)
        case 8: if stream == 0 { sendWindow += Int(number(frame, at: 0)) }
        case 9: fail("a CONTINUATION frame")
        default: break
        }
    }

    private func end(_ stream: UInt32) {
        openStreamCount -= 1
        streamEnded(stream)
    }

    private func settingsArrived(isAcknowledgement: Bool, _ frame: UnsafeRawBufferPointer) {
        guard !isAcknowledgement else { return }
        for start in stride(from: 0, to: frame.count - 5, by: 6) {
            let value = Int(number(frame, at: start + 2))
            switch frame[start + 1] {
            case 3: streamCountMax = value
            case 4: initialStreamWindow = value
            default: break
            }
        }
        write(Self.header(length: 0, type: 4, flags: 1, stream: 0))
        becomeReady()
    }

    private func number(_ frame: UnsafeRawBufferPointer, at start: Int) -> UInt32 {
        frame.loadUnaligned(fromByteOffset: start, as: UInt32.self).bigEndian
    }
}
