// SPDX-License-Identifier: Apache-2.0

/// An HTTP/2 frame, encoded and decoded without nghttp2.
package struct Frame: Equatable {
    /// The frame types of RFC 9113, section 6.
    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
    }

    package static let endStream: UInt8 = 0x1
    package static let acknowledge: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    package static let padded: UInt8 = 0x8

    package var type: UInt8
    package var flags: UInt8
    package var stream: Int32
    package var payload: [UInt8]

    package init(type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = []) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    package var bytes: [UInt8] {
        let length = payload.count
        var bytes = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
        bytes += Self.bigEndian(UInt32(bitPattern: stream))
        return bytes + payload
    }

    package var endsStream: Bool { (type == Kind.data || type == Kind.headers) && flags & Self.endStream != 0 }

    /// Returns the 32-bit number at an offset of the payload, for error codes and stream IDs.
    package func number(at offset: Int = 0) -> UInt32 {
        payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    package static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    /// Removes complete frames from the front of a buffer.
    package static func take(from buffer: inout [UInt8]) -> [Frame] {
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
    package static func settings(_ entries: [(id: UInt16, value: UInt32)] = []) -> Frame {
        let payload = entries.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 0xFF)] + bigEndian($0.value) }
        return Frame(type: Kind.settings, payload: payload)
    }

    package static let settingsAcknowledgement = Frame(type: Kind.settings, flags: acknowledge)

    package static func ping(_ opaque: [UInt8] = Array("--------".utf8), flags: UInt8 = 0) -> Frame {
        Frame(type: Kind.ping, flags: flags, payload: opaque)
    }

    package static func data(_ id: Int32, _ payload: [UInt8], end: Bool = false) -> Frame {
        Frame(type: Kind.data, flags: end ? endStream : 0, stream: id, payload: payload)
    }

    package static func headers(_ id: Int32, _ fields: [(String, String)], end: Bool = false) -> Frame {
        let block = fields.flatMap { HPACK.literal($0.0, $0.1) }
        return Frame(
            type: Kind.headers, flags: endHeaders | (end ? endStream : 0), stream: id, payload: block)
    }

    package static func reset(_ id: Int32, code: UInt32 = 8) -> Frame {
        Frame(type: Kind.reset, stream: id, payload: bigEndian(code))
    }

    package static func windowUpdate(_ id: Int32, _ increment: UInt32) -> Frame {
        Frame(type: Kind.windowUpdate, stream: id, payload: bigEndian(increment))
    }

    /// Encodes the head of an ordinary request.
    package static func request(
        _ id: Int32, method: String = "POST", path: String = "/3/device/00", fields: [(String, String)] = [],
        end: Bool = false
    ) -> Frame {
        let pseudo = [(":method", method), (":scheme", "https"), (":path", path), (":authority", "push.example")]
        return headers(id, pseudo + fields, end: end)
    }
}
