// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import Testing

@Suite struct ClientHelloFramingTests {
    private static let byteCountMax = 2000

    private func examine(_ bytes: [UInt8], isFirst: Bool = true) -> ClientHelloFraming.Verdict {
        ClientHelloFraming.examine(bytes.span, isFirst: isFirst, byteCountMax: Self.byteCountMax)
    }

    private func record(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [type, 3, 1, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    private func hello(_ bodyByteCount: Int) -> [UInt8] {
        [1, 0, UInt8(bodyByteCount >> 8), UInt8(bodyByteCount & 0xFF)] + Array(repeating: 7, count: bodyByteCount)
    }

    @Test func `a ClientHello in one record is complete with its last byte`() {
        let bytes = record(22, hello(500))
        #expect(examine([]) == .needs(byteCount: 1))
        for count in 1..<5 { #expect(examine(Array(bytes.prefix(count))) == .needs(byteCount: 5)) }
        for count in 5..<bytes.count { #expect(examine(Array(bytes.prefix(count))) == .needs(byteCount: bytes.count)) }
        #expect(examine(bytes) == .complete(byteCount: bytes.count))
        #expect(examine(bytes + [9, 9, 9]) == .complete(byteCount: bytes.count))
    }

    @Test(arguments: [1, 3, 4, 5, 100, 503])
    func `a ClientHello over several records is complete with the record that ends it`(firstByteCount: Int) {
        let message = hello(500)
        let first = record(22, Array(message.prefix(firstByteCount)))
        let bytes = first + record(22, Array(message.dropFirst(firstByteCount)))
        #expect(examine(first) == .needs(byteCount: first.count + 1))
        #expect(examine(Array(bytes.prefix(first.count + 1))) == .needs(byteCount: first.count + 5))
        #expect(examine(Array(bytes.dropLast())) == .needs(byteCount: bytes.count))
        #expect(examine(bytes) == .complete(byteCount: bytes.count))
    }

    @Test func `a ClientHello that announces too many bytes is refused before they arrive`() {
        #expect(isRefused(examine([22, 3, 1, 0x40, 0, 1, 2, 0, 0])))
        #expect(isRefused(examine([22, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF])))
        #expect(isRefused(examine([22, 3, 1, 0x40, 0])))
        let largest = Self.byteCountMax - 9
        #expect(examine(Array(record(22, hello(largest)).prefix(9))) == .needs(byteCount: Self.byteCountMax))
        #expect(isRefused(examine(Array(record(22, hello(largest + 1)).prefix(9)))))
    }

    @Test func `a ClientHello with an empty record or too many records is refused`() {
        #expect(isRefused(examine(record(22, []))))
        #expect(isRefused(examine(record(22, [1]) + record(22, []))))
        #expect(isRefused(examine(hello(500).flatMap { record(22, [$0]) })))
    }

    @Test(arguments: [
        [UInt8]("GET / HTTP/1.1".utf8), [21, 3, 1, 0, 2, 1, 90], [20, 3, 1, 0, 1, 1], [0x80, 46, 1, 3, 1],
    ])
    func `a connection must begin with a handshake record`(bytes: [UInt8]) {
        #expect(isRefused(examine(bytes)))
    }

    @Test func `a first message of another type is left to OpenSSL`() {
        #expect(examine(record(22, [2, 0xFF, 0xFF, 0xFF]) + [1]) == .complete(byteCount: 9))
    }

    @Test func `a second ClientHello is found after records of other types`() {
        let before = record(20, [1]) + record(21, [1, 90])
        let second = record(22, hello(500))
        #expect(examine(before, isFirst: false) == .complete(byteCount: before.count))
        #expect(examine(Array(before.dropLast()), isFirst: false) == .needs(byteCount: before.count))
        #expect(examine(before + second.dropLast(), isFirst: false) == .needs(byteCount: before.count + second.count))
        #expect(examine(before + second, isFirst: false) == .complete(byteCount: before.count + second.count))
        #expect(isRefused(examine(before + [22, 3, 3, 0, 4, 1, 2, 0, 0], isFirst: false)))
    }

    @Test func `an encrypted record may be read to its end, which need not have arrived, and no further`() {
        #expect(examine(record(20, [1]) + [23, 3, 3, 0x40, 0], isFirst: false) == .complete(byteCount: 16_395))
        let encrypted = record(23, Array(repeating: 22, count: 40))
        #expect(examine(encrypted + record(22, hello(9)), isFirst: false) == .complete(byteCount: encrypted.count))
        #expect(examine([23], isFirst: false) == .needs(byteCount: 5))
    }

    private func isRefused(_ verdict: ClientHelloFraming.Verdict) -> Bool {
        if case .refused = verdict { true } else { false }
    }
}
