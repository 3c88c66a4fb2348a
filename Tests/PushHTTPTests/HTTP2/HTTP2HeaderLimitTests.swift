// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

struct HTTP2HeaderLimitTests {
    /// The size of the pseudo-fields of `Frame.request`: names, values and 32 bytes for each.
    private static let pseudoByteCount =
        [":methodPOST", ":schemehttps", ":path/3/device/00", ":authoritypush.example"].reduce(0) {
            $0 + $1.utf8.count + 32
        }

    @Test(arguments: [(0, 200), (1, 431)])
    func `fields are refused with 431 at one byte over the limit`(excess: Int, status: Int) {
        let peer = Peer(limits: HTTP2LimitTests.limits(headerBytes: 1000))
        let value = String(repeating: "v", count: 1000 - Self.pseudoByteCount - 33 + excess)
        let answer = peer.exchange(.request(1, fields: [("x", value)], end: true))
        #expect(answer.count == 1 && answer[0].endsStream)
        #expect(peer.fields(of: answer[0]) == [":status": "\(status)"])
        #expect(peer.recorder.headIDs.count == (status == 200 ? 1 : 0))
        #expect(peer.recorder.endedIDs == peer.recorder.headIDs)
        #expect(peer.exchange(.request(3, end: true)).count == 1)
    }

    @Test(arguments: [(0, 200), (1, 431)])
    func `fields are refused with 431 at one over the maximum count`(excess: Int, status: Int) {
        let peer = Peer()
        let fields = (0..<60 + excess).map { ("x\($0)", "") }
        let answer = peer.exchange(.request(1, fields: fields, end: true))
        #expect(peer.fields(of: answer[0]) == [":status": "\(status)"])
    }

    @Test func `the body and trailers of a request that got 431 are ignored`() {
        let peer = Peer(limits: HTTP2LimitTests.limits(fields: 5))
        let answer = peer.exchange(.request(1, fields: [("a", ""), ("b", "")]), .data(1, [1, 2, 3]))
        #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.ping])
        #expect(peer.exchange(.data(1, [4]), .headers(1, [("c", "d")], end: true)).isEmpty)
        #expect(peer.recorder.headIDs.isEmpty && peer.recorder.endedIDs.isEmpty)
        #expect(peer.session.openExchangeCount == 0 && peer.session.failure == nil)
    }

    @Test func `trailers before the 431 is sent cause no second answer`() {
        let peer = Peer(limits: HTTP2LimitTests.limits(fields: 5))
        let answer = peer.exchange(
            .request(1, fields: [("a", ""), ("b", "")]), .data(1, [1]), .headers(1, [("c", "d")], end: true))
        #expect(answer.filter { $0.type == Frame.Kind.headers }.count == 1)
        #expect(peer.session.openExchangeCount == 0)
    }

    @Test(arguments: [false, true])
    func `a table entry that is referenced again and again resets the stream`(inTrailers: Bool) {
        let peer = Peer()
        let value = String(repeating: "v", count: 4000)
        // The block has one entry for the table, then one byte (index 62) for each repetition.
        var bomb = HPACK.integer(0, prefixBitCount: 6, pattern: 0x40) + HPACK.string("x") + HPACK.string(value)
        bomb += [UInt8](repeating: 0x80 | 62, count: 10_000)
        var block = bomb
        if inTrailers {
            _ = peer.exchange(.request(1))
        } else {
            let fields = [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "a")]
            block = fields.flatMap { HPACK.literal($0.0, $0.1) } + bomb
        }
        let flags = Frame.endHeaders | Frame.endStream
        let answer = peer.exchange(Frame(type: Frame.Kind.headers, flags: flags, stream: 1, payload: block))
        #expect(answer.map(\.type) == [Frame.Kind.reset])
        #expect(peer.recorder.requests.isEmpty)
        #expect(peer.recorder.endedIDs == peer.recorder.headIDs)
        #expect(peer.exchange(.request(3, end: true)).count == 1)
    }

    @Test func `a malformed field resets its stream, and the delegate is not notified`() {
        let peer = Peer()
        for (id, field) in zip(
            stride(from: Int32(1), to: 99, by: 2), [("UPPER", "a"), ("a", "b\r\nc"), ("connection", "close")])
        {
            let answer = peer.exchange(.request(id, fields: [field], end: true))
            #expect(answer == [.reset(id, code: ErrorCode.protocolError)])
        }
        #expect(peer.recorder.headIDs.isEmpty && peer.recorder.endedIDs.isEmpty)
    }
}
