// SPDX-License-Identifier: Apache-2.0

/// The part of MQTT 3.1.1 that QoS 1 requires.
enum MQTT {
    static func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        var packet = [type]
        var rest = body.count
        repeat {
            packet.append(UInt8(rest & 127) | (rest > 127 ? 128 : 0))
            rest >>= 7
        } while rest > 0
        return packet + body
    }

    static func text(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt32(text.utf8.count), bytes: 2)
        return bytes + Array(text.utf8)
    }

    static func connect(_ name: String, isPersistent: Bool) -> [UInt8] {
        packet(0x10, text("MQTT") + [4, isPersistent ? 0 : 2, 0, 0] + text(name))
    }

    static func each(_ bytes: UnsafeRawBufferPointer, _ body: (UInt8, UnsafeRawBufferPointer) -> Void) -> Int {
        var start = 0
        while start + 2 <= bytes.count {
            var length = 0
            var index = start + 1
            var shift = 0
            var isWhole = false
            while index < bytes.count, !isWhole {
                length |= Int(bytes[index] & 127) << shift
                isWhole = bytes[index] & 128 == 0
                shift += 7
                index += 1
            }
            guard isWhole, index + length <= bytes.count else { break }
            body(bytes[start], UnsafeRawBufferPointer(rebasing: bytes[index..<index + length]))
            start = index + length
        }
        return start
    }
}

/// A publisher with QoS 1.
final class MQTTPublisher: Publisher {
    private let number: Int
    private var nextPacket: UInt32 = 1

    init(_ loop: Loop, _ target: Target, _ number: Int) {
        self.number = number
        super.init(loop, target, number: number)
    }

    override func opened() { write(MQTT.connect("publisher\(number)", isPersistent: false)) }

    override func send(_ payload: [UInt8], topic: Int) { publish(payload, "d/\(topic)") }
    override func broadcast(_ payload: [UInt8]) { publish(payload, "all") }

    private func publish(_ payload: [UInt8], _ topic: String) {
        noteSent()
        var body = MQTT.text(topic)
        body.append(bigEndian: nextPacket, bytes: 2)
        nextPacket = nextPacket == 65_535 ? 1 : nextPacket + 1
        write(MQTT.packet(0x32, body + payload))
    }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        MQTT.each(bytes) { type, body in
            switch type {
            case 0x20:
                guard body[1] == 0 else { fail("mosquitto refused a connection: \(body[1])") }
                becomeReady()
            case 0x40: noteAnswered()
            default: break
            }
        }
    }
}

/// A device with a persistent session that subscribes to its own topic and acknowledges each message.
final class MQTTDevice: Device {
    override func opened() { write(MQTT.connect("device\(number)", isPersistent: true)) }

    override func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        MQTT.each(bytes) { type, body in
            switch type & 0xf0 {
            case 0x20:
                guard body[1] == 0 else { fail("mosquitto refused a connection: \(body[1])") }
                write(MQTT.packet(0x82, [0, 1] + MQTT.text("d/\(number)") + [1] + MQTT.text("all") + [1]))
            case 0x90: becomeReady()
            case 0x30: published(type, body)
            default: break
            }
        }
    }

    private func published(_ type: UInt8, _ body: UnsafeRawBufferPointer) {
        load?.arrived(body)
        guard type & 6 == 2 else { return }
        let packet = 2 + Int(body[0]) << 8 + Int(body[1])
        write([0x40, 2, body[packet], body[packet + 1]])
    }
}
