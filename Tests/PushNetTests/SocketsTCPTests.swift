// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import Testing

@Suite struct SocketsTCPTests {
    /// Accepts the pending connection.
    private func accept(from listener: Int32) throws -> FileDescriptor {
        try waitUntilReadable(listener)
        var isExhausted = false
        guard let connection = try Sockets.accept(listener, exhausted: &isExhausted) else {
            throw Missing()
        }
        #expect(!isExhausted)
        return connection
    }

    private struct Missing: Error {}

    @Test(arguments: ["127.0.0.1", "::1", "localhost", "*"])
    func `bytes cross a connection to a listener`(host: String) throws {
        let listener = try Sockets.listen(host: host, port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        let family = host == "::1" ? AF_INET6 : try boundFamily(listener.rawValue)
        let client = try connect(toPort: port, family: family)
        let connection = try accept(from: listener.rawValue)
        #expect(try receive(from: connection.rawValue) == nil)
        try send("hello", to: client.rawValue)
        try waitUntilReadable(connection.rawValue)
        #expect(try receive(from: connection.rawValue) == "hello")
        shutdown(client.rawValue, Int32(SHUT_WR))
        try waitUntilReadable(connection.rawValue)
        #expect(try receive(from: connection.rawValue) == "")
    }

    @Test func `the host * listens on IPv4 and IPv6`() throws {
        let listener = try Sockets.listen(host: "*", port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        let first = try connect(toPort: port, family: AF_INET)
        let second = try connect(toPort: port, family: AF_INET6)
        for client in [first.rawValue, second.rawValue] {
            let connection = try accept(from: listener.rawValue)
            #expect(try Sockets.localPort(connection.rawValue) == port)
            #expect(client >= 0)
        }
    }

    @Test func `an IPv6 address listens on IPv6 only`() throws {
        let listener = try Sockets.listen(host: "::", port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        _ = try Sockets.listen(host: "0.0.0.0", port: port, sharingPort: false)
    }

    @Test func `an accepted connection is non-blocking and close-on-exec, and has TCP_NODELAY and a timeout`() throws {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        let client = try connect(toPort: try Sockets.localPort(listener.rawValue), family: AF_INET)
        let connection = try accept(from: listener.rawValue)
        #expect(client.rawValue != connection.rawValue)
        for descriptor in [listener.rawValue, connection.rawValue] {
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
        #expect(option(connection.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
        #expect(option(connection.rawValue, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 30_000)
    }

    @Test func `a port is shared only on request`() throws {
        let first = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: true)
        let port = try Sockets.localPort(first.rawValue)
        let second = try Sockets.listen(host: "127.0.0.1", port: port, sharingPort: true)
        #expect(try Sockets.localPort(second.rawValue) == port)
        #expect(
            throws: NetError.system(call: "bind", code: EADDRINUSE, subject: "127.0.0.1 port \(port)")
        ) {
            _ = try Sockets.listen(host: "127.0.0.1", port: port, sharingPort: false)
        }
    }

    @Test func `an empty queue of connections returns nil and does not report exhaustion`() throws {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        var isExhausted = false
        let isNone = try Sockets.accept(listener.rawValue, exhausted: &isExhausted) == nil
        #expect(isNone)
        #expect(!isExhausted)
    }

    @Test(arguments: ["", "no such host.invalid", "127.0.0.1\u{0}.example.org", "256.0.0.1", "[::1]"])
    func `an invalid host is refused`(host: String) {
        #expect {
            _ = try Sockets.listen(host: host, port: 0, sharingPort: false)
        } throws: { error in
            guard case NetError.badAddress = error else { return false }
            return true
        }
    }

    @Test func `an address of another machine is refused with advice`() {
        #expect {
            _ = try Sockets.listen(host: "192.0.2.1", port: 0, sharingPort: false)
        } throws: { error in
            (error as? NetError)?.advice == "Choose an address of this machine instead of 192.0.2.1 port 0."
        }
    }

    @Test func `writing to a peer that left throws an error and raises no signal`() throws {
        let pair = try SocketPair()
        let near = pair.near.rawValue
        shutdown(pair.far.rawValue, Int32(SHUT_RD))
        #expect(throws: NetError.system(call: "send", code: EPIPE, subject: "")) {
            try send("x", to: near)
        }
    }

    @Test func `a full socket accepts no more bytes`() throws {
        let pair = try SocketPair()
        let block = [UInt8](repeating: 0, count: 65_536)
        var total = 0
        while let count = try unsafe block.withUnsafeBytes({ try unsafe Sockets.write(pair.near.rawValue, $0) }) {
            total += count
        }
        #expect(total >= block.count)
    }

    @Test func `exhausted descriptors are distinguished from an empty queue`() async {
        await #expect(processExitsWith: .success) {
            let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
            let port = try Sockets.localPort(listener.rawValue)
            let client = try connect(toPort: port, family: AF_INET)
            try waitUntilReadable(listener.rawValue)
            var old = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &old)
            var none = rlimit(rlim_cur: 0, rlim_max: old.rlim_max)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            var isExhausted = false
            let isRefused = try Sockets.accept(listener.rawValue, exhausted: &isExhausted) == nil && isExhausted
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &old)
            isExhausted = false
            let isAccepted = try Sockets.accept(listener.rawValue, exhausted: &isExhausted) != nil && !isExhausted
            exit(isRefused && isAccepted && client.rawValue >= 0 ? 0 : 1)
        }
    }
}

/// Connects to a family's loopback address and waits for the connection.
///
/// - Parameters:
///   - port: The port.
///   - family: The address family.
///   - source: The last number of the source address, for IPv4; nil for any address.
/// - Returns: The connected socket.
/// - Throws: The error of a system call.
func connect(toPort port: UInt16, family: Int32, fromHost source: UInt32? = nil) throws -> FileDescriptor {
    let client = FileDescriptor(
        adopting: socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    var code: Int32 = -1
    if family == AF_INET6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        code = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(client.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    } else {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        if let source {
            address.sin_addr.s_addr = (0x7F00_0000 + source).bigEndian
            let bound = unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(client.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(bound == 0)
        }
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        code = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(client.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
    try #require(code == 0)
    return client
}

/// Returns the value of a numeric socket option.
func option(_ socket: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var byteCount = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(socket, level, name, &value, &byteCount)
    return value
}

/// Returns a listener's address family, and IPv4 for a dual-stack listener, which is reached over IPv4 too.
func boundFamily(_ socket: Int32) throws -> Int32 {
    let domain = option(socket, SOL_SOCKET, SO_DOMAIN)
    let isDualStack = domain == AF_INET6 && option(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY) == 0
    return isDualStack ? AF_INET : domain
}
