// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import Testing

struct DeviceTokenContentsTests {
    @Test func `the fields are in network byte order`() {
        let contents = DeviceTokenContents(
            device: DeviceID(rawValue: 0x0102_0304_0506_0708), topic: TopicID(rawValue: 0x090A_0B0C),
            generation: 0x0D0E_0F10)
        let bytes = contents.bytes
        #expect(bytes.indices.map { bytes[$0] } == Array(1...16))
        #expect(DeviceTokenContents(bytes: bytes) == contents)
    }

    @Test(
        arguments: [
            (0, 1, 0, true), (0x7FFF_FFFF_FFFF_FFFF, .max, .max, true), (0x8000_0000_0000_0000, 1, 0, false),
            (.max, .max, .max, false), (1, 0, 1, false), (0, 0, 0, false),
        ] as [(UInt64, UInt32, UInt32, Bool)])
    func `only contents that this server can have written are accepted`(
        device: UInt64, topic: UInt32, generation: UInt32, isRead: Bool
    ) {
        let contents = DeviceTokenContents(
            device: DeviceID(rawValue: device), topic: TopicID(rawValue: topic), generation: generation)
        #expect(DeviceTokenContents(bytes: contents.bytes) == (isRead ? contents : nil))
    }
}
