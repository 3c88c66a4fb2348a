// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import Testing

@Suite struct SourceAddressTests {
    @Test func `an IPv4 peer is counted by its whole address`() {
        let address = SourceAddress(ipv4: 0xC000_0201)
        #expect(address.isIPv4)
        #expect(address.network == address)
        #expect(address.description == "192.0.2.1")
    }

    @Test func `IPv6 peers of one /64 network are counted together`() {
        let first = SourceAddress(ipv6High: 0x2001_0DB8_0000_0001, low: 1)
        let second = SourceAddress(ipv6High: 0x2001_0DB8_0000_0001, low: 2)
        let third = SourceAddress(ipv6High: 0x2001_0DB8_0000_0002, low: 1)
        #expect(first != second)
        #expect(first.network == second.network)
        #expect(first.network != third.network)
        #expect(first.description == "2001:db8:0:1:0:0:0:1")
    }

    @Test(arguments: ["127.0.0.1", "*"]) func `an accepted connection reports its peer's address`(host: String) throws {
        let listener = try Sockets.listen(host: host, port: 0, sharingPort: false)
        let client = try connect(toPort: try Sockets.localPort(listener.rawValue), family: AF_INET)
        try waitUntilReadable(listener.rawValue)
        var isExhausted = false
        guard let accepted = try Sockets.accept(listener.rawValue, exhausted: &isExhausted) else {
            Issue.record("no connection waits at the listener")
            return
        }
        #expect(SourceAddress(peerOf: accepted.rawValue) == SourceAddress(ipv4: 0x7F00_0001))
        #expect(client.rawValue >= 0)
    }

    @Test func `a socket without a peer has an unknown address`() throws {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        #expect(SourceAddress(peerOf: listener.rawValue) == .unknown)
        #expect(SourceAddress.unknown.description == "local")
    }
}
