// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import Testing

@testable import PushServer

@Suite struct HeartbeatWheelTests {
    private static let longest = Limits.heartbeatIntervalMax.components.seconds
    private static func stream(_ number: UInt32) -> ReplyAddress {
        ReplyAddress(loop: 0, slot: number, generation: 1, exchange: 1)
    }

    @Test func `each stream is visited once, in its second`() {
        var wheel = HeartbeatWheel(second: 1000)
        wheel.schedule(Self.stream(1), inSeconds: 1)
        wheel.schedule(Self.stream(2), inSeconds: 20)
        wheel.schedule(Self.stream(3), inSeconds: Self.longest)
        #expect(wheel.advance(to: 1000) == [])
        #expect(wheel.advance(to: 1001) == [Self.stream(1)])
        #expect(wheel.advance(to: 1019) == [])
        #expect(wheel.advance(to: 1020) == [Self.stream(2)])
        wheel.schedule(Self.stream(2), inSeconds: 20)
        #expect(wheel.advance(to: 1040) == [Self.stream(2)])
        #expect(wheel.advance(to: 1000 + Int(Self.longest) - 1) == [])
        #expect(wheel.advance(to: 1000 + Int(Self.longest)) == [Self.stream(3)])
        #expect(wheel.advance(to: 9000) == [])
    }

    @Test func `a late tick skips no stream, and a repeated tick visits none twice`() {
        var wheel = HeartbeatWheel(second: 7)
        for second in 1...Self.longest { wheel.schedule(Self.stream(UInt32(second)), inSeconds: second) }
        #expect(wheel.advance(to: 10) == (1...3).map(Self.stream))
        #expect(wheel.advance(to: 10) == [])
        #expect(wheel.advance(to: 7 + 5 * Int(Self.longest)).count == Int(Self.longest) - 3)
    }

    @Test(arguments: [(0, 20), (19, 20), (55, 55), (120, 120), (Int64.max, 240), (-1, 20)] as [(Int64, Int64)])
    func `a device gets the interval that it requests, within limits`(asked: Int64, granted: Int64) {
        #expect(Heartbeat.granted(asked) == granted)
    }

    @Test(arguments: [(nil, 20), ("120", 120), ("9999", 240), ("soon", 20)] as [(String?, Int64)])
    func `a device reads the interval from the answer, within limits`(answer: String?, seconds: Int64) {
        #expect(Heartbeat.interval(answer) == .seconds(seconds))
    }
}
