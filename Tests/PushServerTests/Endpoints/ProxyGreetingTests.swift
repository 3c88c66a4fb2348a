// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushCore
import PushNet
import Testing

/// Tests the connection of a proxy before its header is complete.
struct ProxyGreetingTests {
    /// The first bytes of a header of the PROXY protocol, version 2.
    private static let start = Array("\r\n\r\n\0\r\nQUIT\n".utf8)

    private func connect(_ harness: EndpointHarness) throws -> FileDescriptor {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        let client = FileDescriptor(adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(client.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(code == 0)
        var isExhausted = false
        guard let accepted = try Sockets.accept(listener.rawValue, exhausted: &isExhausted) else {
            throw EndpointHarness.NoSocket()
        }
        try harness.greet(accepted)
        return client
    }

    private func send(_ bytes: some Collection<UInt8>, on client: borrowing FileDescriptor) {
        let bytes = Array(bytes)
        #expect(unsafe Glibc.send(client.rawValue, bytes, bytes.count, 0) == bytes.count)
    }

    @Test(arguments: [0, 5, 12])
    func `a peer that ends its output in the header is closed, and costs no turn after that`(byteCount: Int) throws {
        let harness = try EndpointHarness()
        let client = try connect(harness)
        send(Self.start.prefix(byteCount), on: client)
        for _ in 0..<3 { harness.turn() }
        #expect(harness.greetingCount == 1)
        #expect(shutdown(client.rawValue, Int32(SHUT_WR)) == 0)
        // The timeout of the header passes much later than this many turns, which do not wait.
        for _ in 0..<5 { harness.turn() }
        #expect(harness.greetingCount == 0)
    }

    @Test func `a connection whose header arrives after the shutdown began is served`() throws {
        let harness = try EndpointHarness()
        let client = try connect(harness)
        harness.shutDown()
        harness.turn()
        #expect(harness.greetingCount == 1)
        let rest: [UInt8] = [0x21, 0x11, 0, 12, 192, 0, 2, 1, 127, 0, 0, 1, 0x12, 0x67, 0x08, 0x95]
        send(Self.start + rest, on: client)
        for _ in 0..<3 { harness.turn() }
        #expect(harness.greetingCount == 0)
        var byte: UInt8 = 0
        #expect(unsafe recv(client.rawValue, &byte, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
    }
}
