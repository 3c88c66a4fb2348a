// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushNet

@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    private func header(_ command: UInt8, _ family: UInt8, _ addresses: [UInt8]) -> [UInt8] {
        Self.signature + [command, family, UInt8(addresses.count >> 8), UInt8(addresses.count & 255)] + addresses
    }

    private func parse(_ bytes: [UInt8]) throws -> ProxyHeader.Progress { try ProxyHeader.parse(bytes.span) }

    /// Returns the description of the client's address; `own` for a connection of the proxy itself.
    private func source(_ bytes: [UInt8]) throws -> String? {
        guard case .complete(let byteCount, let source) = try parse(bytes) else { return nil }
        #expect(byteCount == bytes.count)
        return source?.description ?? "own"
    }

    @Test func `the address of the client is read from a header of version 2`() throws {
        let v4: [UInt8] = [192, 0, 2, 1, 10, 0, 0, 1, 0x30, 0x39, 0x08, 0x95]
        let v6: [UInt8] =
            [0x20, 0x01, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [7] + Array(repeating: 1, count: 20)
        #expect(try source(header(0x21, 0x11, v4)) == "192.0.2.1")
        #expect(try source(header(0x21, 0x11, v4 + [3, 0, 1, 9])) == "192.0.2.1")
        #expect(try source(header(0x21, 0x21, v6)) == "2001:db8:0:0:0:0:0:7")
        #expect(try source(header(0x20, 0x00, [])) == "own")
        #expect(try source(header(0x21, 0x31, Array(repeating: 0, count: 216))) == "own")
        #expect(try parse(Array(header(0x21, 0x11, v4).prefix(16))) == .needs(byteCount: 28))
    }

    @Test func `the address of the client is read from a line of version 1`() throws {
        #expect(try source(Array("PROXY TCP4 192.0.2.1 192.0.2.2 4711 443\r\n".utf8)) == "192.0.2.1")
        #expect(try source(Array("PROXY TCP6 ::ffff:192.0.2.7 ::ffff:192.0.2.1 4711 443\r\n".utf8)) == "192.0.2.7")
        #expect(try source(Array("PROXY TCP6 2001:db8::7 ::1 4711 443\r\n".utf8)) == "2001:db8:0:0:0:0:0:7")
        #expect(try source(Array("PROXY UNKNOWN ignored\r\n".utf8)) == "own")
        // The shortest line is shorter than what is read first.
        let short = Array("PROXY UNKNOWN\r\n\u{16}".utf8)
        #expect(try parse(short) == .complete(byteCount: 15, source: nil))
        let line = Array("PROXY TCP4 192.0.2.1 192.0.2.2 4711 443\r\n".utf8)
        for count in 16..<line.count {
            #expect(try parse(Array(line[..<count])) == .needs(byteCount: count + 1))
        }
    }

    @Test func `anything else is refused, and never crashes`() throws {
        let good = header(0x21, 0x11, Array(repeating: 1, count: 12))
        var bad = [
            header(0x11, 0x11, Array(repeating: 1, count: 12)), header(0x22, 0x11, Array(repeating: 1, count: 12)),
            header(0x21, 0x11, [1]), header(0x21, 0x21, Array(repeating: 1, count: 35)),
            header(0x21, 0x11, Array(repeating: 0, count: 1009)), Array("GET / HTTP/1.1\r\n".utf8),
            Array("PROXY TCP4 ::1 ::1 1 2\r\n".utf8), Array("PROXY TCP6 192.0.2.1 192.0.2.1 1 2\r\n".utf8),
            Array("PROXY TCP4 192.0.2.1 1 2\r\n".utf8), Array("PROXY TCP5 192.0.2.1 192.0.2.1 1 2\r\n".utf8),
            Array(("PROXY " + String(repeating: "x", count: 101)).utf8),
        ]
        bad += (0..<13).map { place in good.enumerated().map { $0.offset == place ? $0.element ^ 0xFF : $0.element } }
        for bytes in bad { #expect(throws: ProxyHeader.Defect.self) { try parse(bytes) } }
        for count in good.indices { _ = try parse(Array(good[..<count])) }
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "192.0.2.1", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::/0", "::1", true),
        ("::1", "::1", true), ("::1", "::2", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("192.0.2.0/31", "192.0.2.1", true),
        ("192.0.2.0/31", "192.0.2.2", false),
    ])
    func `a range contains the addresses that share its bits`(range: String, address: String, contains: Bool) throws {
        let address = try #require(SourceAddress(text: address))
        #expect(try #require(AddressRange(range)).contains(address) == contains)
    }

    @Test(arguments: ["", "localhost", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "1.2.3", "::1%lo", "/8"])
    func `any other text is no range`(text: String) { #expect(AddressRange(text) == nil) }
}
