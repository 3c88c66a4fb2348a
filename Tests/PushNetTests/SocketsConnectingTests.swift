// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import PushNet

@Suite struct SocketsConnectingTests {
    private func waitUntilWritable(_ socket: Int32) throws {
        var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        try #require(unsafe poll(&entry, 1, 30_000 * Int32(Patience.factor)) == 1)
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a host is connected`(host: String) throws {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        // Each address of a name has its turn, and the listener has only one of them.
        let failures = try (0..<2).map { attempt in
            let socket = try Sockets.connect(host: host, port: port, attempt: attempt)
            try waitUntilWritable(socket.rawValue)
            return Sockets.connectionFailure(socket.rawValue)
        }
        #expect(failures.contains(nil))
    }

    @Test func `the reason of a failure is known when the socket is ready`() throws {
        // After the listener is closed, the kernel refuses connections to its port.
        let port: UInt16
        do {
            let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
            port = try Sockets.localPort(listener.rawValue)
        }
        let socket = try Sockets.connect(host: "127.0.0.1", port: port)
        try waitUntilWritable(socket.rawValue)
        #expect(Sockets.connectionFailure(socket.rawValue) == .system(call: "connect", code: ECONNREFUSED, subject: ""))
    }

    @Test func `a host without an address is an error`() {
        #expect(throws: NetError.self) { _ = try Sockets.connect(host: "", port: 1) }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("::1", true), ("localhost", false), ("", false), ("1.2.3", false), ("[::1]", false),
    ])
    func `an address is told from a name`(host: String, isAddress: Bool) {
        #expect(Sockets.isAddress(host) == isAddress)
    }
}
