// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import Testing

@Suite struct StreamOrderTests {
    @Test func `the highest stream IDs follow each other without an overflow`() {
        var order = StreamOrder()
        #expect(order.take(.max - 1, isHeaders: true, endsStream: false) == nil)
        #expect(order.take(.max, isHeaders: true, endsStream: true) == nil)
        #expect(order.take(.max, isHeaders: false, endsStream: false) == .streamClosed)
        #expect(order.take(.max - 2, isHeaders: true, endsStream: false) == .idTooLow)
    }

    @Test func `an ID that was passed over is refused, and one that was used is not`() {
        var order = StreamOrder()
        #expect(order.take(1, isHeaders: true, endsStream: false) == nil)
        #expect(order.take(7, isHeaders: true, endsStream: false) == nil)
        #expect(order.take(5, isHeaders: true, endsStream: false) == .idTooLow)
        #expect(order.take(1, isHeaders: true, endsStream: true) == nil)
        #expect(order.take(1, isHeaders: false, endsStream: false) == .streamClosed)
    }

    @Test func `the sixteen streams that ended last are remembered`() {
        var order = StreamOrder()
        for number in 0..<17 { #expect(order.take(Int32(2 * number + 1), isHeaders: true, endsStream: true) == nil) }
        #expect(order.take(1, isHeaders: false, endsStream: false) == nil)
        #expect(order.take(3, isHeaders: false, endsStream: false) == .streamClosed)
    }
}
