// SPDX-License-Identifier: Apache-2.0

import PushCore
import TestSupport
import Testing

@testable import PushCluster

struct NodeMessageTests {
    private let sender = InstanceID(rawValue: 0x0123_4567_89AB_CDEF)

    /// Encodes messages into packets.
    private func packets(_ messages: [NodeMessage]) -> [[UInt8]] {
        var encoder = NodeMessageEncoder(sender: sender)
        for message in messages { encoder.append(message) }
        return encoder.takePackets()
    }

    @Test func `every kind of message is decoded as it was encoded`() throws {
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            let messages = (0..<10).map { _ in generator.nodeMessage() }
            let packets = packets(messages)
            #expect(packets.count == 1)
            let decoded = try #require(NodeMessageDecoder.decode(packets[0]), "seed \(seed)")
            #expect(decoded.sender == sender)
            #expect(decoded.messages.map(\.content) == messages.map(\.content), "seed \(seed)")
            #expect(self.packets(decoded.messages) == packets, "seed \(seed)")
        }
    }

    @Test func `the bytes of a message never change`() throws {
        let packets = packets([
            .replaced(number: 2, DeviceID(rawValue: 0x0102), epoch: 0xFFFF), .woken(number: 3, [true, false]),
            .pushed(number: 4, [(5, .refused(.badTopic, endedAt: Timestamp(unixMilliseconds: 6)))]),
        ])
        #expect(
            packets == [
                [1, 0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]
                    + [5, 2, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0] + [0xFF, 0xFF, 0, 0, 0, 0, 0, 0]
                    + [4, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0]
                    + [2, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 5, 0, 2, 8] + Array("BadTopic".utf8)
                    + [1, 6, 0, 0, 0, 0, 0, 0, 0]
            ])
    }

    @Test func `a message that is cut anywhere is dropped`() {
        for seed in seeds.prefix(40) {
            var generator = SeededGenerator(seed: seed)
            let packet = packets([generator.nodeMessage()])[0]
            for count in 0..<packet.count {
                let decoded = NodeMessageDecoder.decode(Array(packet[..<count]))
                // The head alone is a packet without messages.
                #expect(decoded.map { $0.messages.isEmpty && count == 9 } ?? true, "seed \(seed), \(count) bytes")
            }
        }
    }

    @Test func `flipped bits never change a notification`() {
        var generator = SeededGenerator(seed: 1)
        let push = NodeMessage.push(number: 1, [generator.push()], until: 2)
        let packet = packets([push])[0]
        // After the head, kind, number, time, count, device, topic, number, key and length comes the record.
        for place in 9 + 9 + 10 + 32..<packet.count {
            for bit in 0..<8 {
                var damaged = packet
                damaged[place] ^= 1 << UInt8(bit)
                #expect(NodeMessageDecoder.decode(damaged) == nil, "bit \(bit) of byte \(place)")
            }
        }
    }

    @Test func `random bytes behind a valid head are dropped or decoded, but never stop the process`() {
        let head = packets([.done(number: 1)])[0].prefix(9)
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<50 {
                #expect(NodeMessageFuzzCheck.packet(head + generator.bytes(countMax: 80)) == nil, "seed \(seed)")
                var damaged = packets([generator.nodeMessage()])[0]
                damaged[Int.random(in: 9..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
                #expect(NodeMessageFuzzCheck.packet(damaged) == nil, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [(0, false), (1, true), (2, false), (255, false)])
    func `another version is dropped`(version: UInt8, isKnown: Bool) {
        var packet = packets([.done(number: 1)])[0]
        packet[0] = version
        #expect((NodeMessageDecoder.decode(packet) != nil) == isKnown)
        #expect((NodeMessageDecoder.sender(of: packet) != nil) == isKnown)
    }

    @Test(arguments: [(0, false), (8, true), (9, false), (255, false)])
    func `an unknown kind is dropped`(kind: UInt8, isKnown: Bool) {
        var packet = packets([.done(number: 1)])[0]
        packet[9] = kind
        #expect((NodeMessageDecoder.decode(packet) != nil) == isKnown)
    }

    // MARK: Bounds

    @Test(arguments: [(256, 2_048, true), (256, 2_049, false), (257, 1, false), (1, 512 << 10, true)])
    func `a push has at most 256 notifications and 512 KiB`(count: Int, payloadByteCount: Int, fits: Bool) {
        var generator = SeededGenerator(seed: 2)
        let pushes = (0..<count).map { _ in generator.push(payloadByteCount: payloadByteCount) }
        let packets = packets([.push(number: 1, pushes, until: 2)])
        #expect(packets.count == (fits ? 1 : 0))
        for packet in packets { #expect(NodeMessageDecoder.decode(packet)?.messages.count == 1) }
    }

    @Test(arguments: [(65_536, true), (65_537, false)])
    func `a message names at most 65,536 devices`(count: Int, fits: Bool) {
        let devices = (0..<count).map { DeviceID(rawValue: UInt64($0)) }
        for message in [NodeMessage.wake(number: 1, devices), .woken(number: 1, devices.map { _ in true })] {
            let packets = packets([message])
            #expect(packets.count == (fits ? 1 : 0))
            for packet in packets { #expect(NodeMessageDecoder.decode(packet)?.messages.count == 1) }
        }
    }

    @Test(arguments: [(-1, false), (0, true), (Int64.max - 1 << 32, true), (Int64.max - 1 << 32 + 1, false)])
    func `a number that leaves no room for higher ones is dropped`(epoch: Int64, isValid: Bool) {
        let packet = packets([.replaced(number: 1, DeviceID(rawValue: 2), epoch: epoch)])[0]
        #expect((NodeMessageDecoder.decode(packet) != nil) == isValid)
    }

    @Test func `a count that exceeds the bound or the packet is dropped`() {
        let packet = packets([.wake(number: 1, [])])[0]
        for count: [UInt8] in [[1, 0, 0, 0], [1, 0, 1, 0], [255, 255, 255, 255]] {
            #expect(NodeMessageDecoder.decode(packet.dropLast(4) + count) == nil)
            #expect(NodeMessageDecoder.decode(packet.dropLast(4) + count + [1, 2, 3, 4, 5, 6, 7]) == nil)
        }
    }

    @Test func `packets have at most 1 MiB, and keep the order of their messages`() {
        var generator = SeededGenerator(seed: 3)
        let messages = (0..<20).map { number in
            NodeMessage.push(number: number, [generator.push(payloadByteCount: 300 << 10)], until: 0)
        }
        let packets = packets(messages)
        #expect(packets.count == 7)
        #expect(packets.allSatisfy { $0.count <= 1 << 20 })
        let decoded = packets.compactMap { NodeMessageDecoder.decode($0)?.messages }.joined()
        #expect(decoded.map(\.content) == messages.map(\.content))
        #expect(NodeMessageDecoder.decode(packets.joined() + []) == nil)
    }

    @Test func `an encoder starts again after its packets are taken`() {
        var encoder = NodeMessageEncoder(sender: sender)
        #expect(encoder.takePackets().isEmpty)
        encoder.append(.done(number: 1))
        let first = encoder.takePackets()
        encoder.append(.done(number: 1))
        #expect(encoder.takePackets() == first && first.count == 1)
        #expect(encoder.takePackets().isEmpty)
    }
}
