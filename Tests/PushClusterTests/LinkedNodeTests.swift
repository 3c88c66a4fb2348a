// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushCluster

struct LinkedNodeTests {
    @Test(arguments: [
        ("n1.internal:2197", "n1.internal", 2197), ("10.0.0.1:1", "10.0.0.1", 1),
        ("[fd00::1]:65535", "fd00::1", 65_535),
    ])
    func `an address has a host and a port`(text: String, host: String, port: UInt16) {
        #expect(LinkedNode.Address(text) == .init(host: host, port: port))
    }

    @Test(arguments: ["", "n1", ":1", "n1:", "n1:0", "n1:65536", "n1:-1", "::1:5", "[]:5"])
    func `a text without a valid host and port is refused`(text: String) { #expect(LinkedNode.Address(text) == nil) }
}
