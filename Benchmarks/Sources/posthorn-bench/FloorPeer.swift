// SPDX-License-Identifier: Apache-2.0

/// The protocol of Benchmarks/Baselines/floor.c: a length of 2 bytes, a kind, a spare byte, a topic of 4 bytes, payload.
enum FloorFrame {
    static func make(_ kind: UInt8, topic: Int, _ payload: [UInt8] = []) -> [UInt8] {
        var frame: [UInt8] = []
        frame.append(bigEndian: UInt32(payload.count), bytes: 2)
        frame += [kind, 0]
        frame.append(bigEndian: UInt32(topic), bytes: 4)
        return frame + payload
    }

    static func each(_ bytes: UnsafeRawBufferPointer, _ body: (UInt8, UnsafeRawBufferPointer) -> Void) -> Int {
        var start = 0
        while bytes.count - start >= 8 {
            let end = start + 8 + Int(bytes[start]) << 8 + Int(bytes[start + 1])
            guard end <= bytes.count else { break }
            body(bytes[start + 2], UnsafeRawBufferPointer(rebasing: bytes[start + 8..<end]))
            start = end
        }
        return start
    }
}

/// A publisher for the floor server, which answers each message with an empty frame.
final class FloorPublisher: Publisher {
    override func opened() { becomeReady() }

    override func send(_ payload: [UInt8], topic: Int) {
        noteSent()
        write(FloorFrame.make(UInt8(ascii: "P"), topic: topic, payload))
    }

    override func broadcast(_ payload: [UInt8]) {
        noteSent()
        write(FloorFrame.make(UInt8(ascii: "B"), topic: 0, payload))
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        FloorFrame.each(bytes) { kind, _ in if kind == UInt8(ascii: "A") { noteAnswered() } }
    }
}

/// A device that subscribes to one topic of the floor server, and acknowledges.
final class FloorDevice: Device {
    override func opened() { write(FloorFrame.make(UInt8(ascii: "S"), topic: number)) }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        FloorFrame.each(bytes) { kind, payload in
            switch kind {
            case UInt8(ascii: "S"): becomeReady()
            case UInt8(ascii: "M"):
                let isForAll = (load?.broadcastRemaining ?? 0) > 0
                load?.arrived(payload)
                if !isForAll { write(FloorFrame.make(UInt8(ascii: "K"), topic: number)) }
            default: break
            }
        }
    }
}
