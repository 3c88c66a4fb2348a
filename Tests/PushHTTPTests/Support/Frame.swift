// SPDX-License-Identifier: Apache-2.0

/// An HTTP/2 frame, encoded and decoded without nghttp2.
struct Frame: Equatable {
    /// The frame types of RFC 9113, section 6.
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    static let endStream: UInt8 = 0x1
    static let acknowledge: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8

    var type: UInt8
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = payload.count
        var bytes = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
        bytes += Self.bigEndian(UInt32(bitPattern: stream))
        return bytes + payload
    }

    var endsStream: Bool { (type == Kind.data || type == Kind.headers) && flags & Self.endStream != 0 }

    /// Returns the 32-bit number at an offset of the payload, for error codes and stream ids.
    func number(at offset: Int = 0) -> UInt32 {
        payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    /// Removes complete frames from the front of a buffer.
    static func take(from buffer: inout [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var start = 0
        while buffer.count - start >= 9 {
            let length = Int(buffer[start]) << 16 | Int(buffer[start + 1]) << 8 | Int(buffer[start + 2])
            guard buffer.count - start >= 9 + length else { break }
            let id = buffer[start + 5..<start + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(
                    type: buffer[start + 3], flags: buffer[start + 4], stream: Int32(bitPattern: id & 0x7FFF_FFFF),
                    payload: Array(buffer[start + 9..<start + 9 + length])))
            start += 9 + length
        }
        buffer.removeFirst(start)
        return frames
    }
}

extension Frame {
    static func settings(_ entries: [(id: UInt16, value: UInt32)] = []) -> Frame {
        let payload = entries.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 0xFF)] + bigEndian($0.value) }
        return Frame(type: Kind.settings, payload: payload)
    }

    static let settingsAcknowledgement = Frame(type: Kind.settings, flags: acknowledge)

    static func ping(_ opaque: [UInt8] = Array("--------".utf8), flags: UInt8 = 0) -> Frame {
        Frame(type: Kind.ping, flags: flags, payload: opaque)
    }

    static func data(_ id: Int32, _ payload: [UInt8], end: Bool = false) -> Frame {
        Frame(type: Kind.data, flags: end ? endStream : 0, stream: id, payload: payload)
    }

    static func headers(_ id: Int32, _ fields: [(String, String)], end: Bool = false) -> Frame {
        let block = fields.flatMap { HPACK.literal($0.0, $0.1) }
        return Frame(
            type: Kind.headers, flags: endHeaders | (end ? endStream : 0), stream: id, payload: block)
    }

    static func reset(_ id: Int32, code: UInt32 = 8) -> Frame {
        Frame(type: Kind.reset, stream: id, payload: bigEndian(code))
    }

    static func windowUpdate(_ id: Int32, _ increment: UInt32) -> Frame {
        Frame(type: Kind.windowUpdate, stream: id, payload: bigEndian(increment))
    }

    /// Encodes the head of an ordinary request.
    static func request(
        _ id: Int32, method: String = "POST", path: String = "/3/device/00", fields: [(String, String)] = [],
        end: Bool = false
    ) -> Frame {
        let pseudo = [(":method", method), (":scheme", "https"), (":path", path), (":authority", "push.example")]
        return headers(id, pseudo + fields, end: end)
    }
}
