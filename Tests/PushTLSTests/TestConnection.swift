// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushTLS
import TestSupport
import Testing

/// Our end of a TLS connection, and the socket under it.
final class TestConnection {
    struct DeadlinePassed: Error {}

    let tls: TLSConnection
    private let socket: Int32

    init(_ context: TLSContext, adopting socket: Int32) throws {
        self.socket = socket
        tls = try TLSConnection(context, descriptor: socket)
    }

    /// Closes the socket but not the TLS connection: a test that needs close_notify calls `tls.close()`.
    deinit { close(socket) }

    /// Waits until the socket is ready, at most thirty seconds.
    private func wait(for events: Int32) throws {
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        guard unsafe poll(&entry, 1, 30_000 * Int32(Patience.factor)) == 1 else { throw DeadlinePassed() }
    }

    func handshake() throws {
        while true {
            switch try tls.handshake() {
            case .done: return
            case .wantsRead: try wait(for: POLLIN)
            case .wantsWrite: try wait(for: POLLOUT)
            }
        }
    }

    /// Reads the next bytes, or returns nil at the end.
    func read(byteCountMax: Int = 16_384) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteCountMax)
        while true {
            switch try unsafe bytes.withUnsafeMutableBytes({ try unsafe tls.read(into: $0) }) {
            case .bytes(let count): return Array(bytes.prefix(count))
            case .closed: return nil
            case .wantsRead: try wait(for: POLLIN)
            case .wantsWrite: try wait(for: POLLOUT)
            }
        }
    }

    /// Reads exactly this many bytes, or fewer when the connection ends first.
    func read(exactly byteCount: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < byteCount, let next = try read(byteCountMax: byteCount - bytes.count) { bytes += next }
        return bytes
    }

    /// Sends everything from a buffer that moves and grows between calls.
    func write(_ bytes: [UInt8], firstByteCount: Int = .max) throws {
        var rest = bytes[...]
        var offered = min(firstByteCount, rest.count)
        while !rest.isEmpty {
            let block = Array(rest.prefix(offered))
            switch try unsafe block.withUnsafeBytes({ try unsafe tls.write($0) }) {
            case .bytes(let count):
                rest = rest.dropFirst(count)
                offered = min(firstByteCount, rest.count)
            case .closed: throw TLSError.peer("closed")
            case .wantsRead: try wait(for: POLLIN)
            case .wantsWrite:
                try wait(for: POLLOUT)
                offered = min(offered + 1_000, rest.count)
            }
        }
    }
}

/// A listening socket on the loopback address.
final class TestListener {
    private let socket: Int32
    let port: UInt16

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listenSocket = socket
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listenSocket, $0, byteCount) == 0 && listen(listenSocket, 16) == 0
                    && getsockname(listenSocket, $0, &byteCount) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(isListening)
    }

    deinit { close(socket) }

    /// Accepts the next connection as a non-blocking socket that the caller owns.
    func accept() throws -> Int32 {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&entry, 1, 30_000 * Int32(Patience.factor)) == 1)
        let connection = Glibc.accept(socket, nil, nil)
        try #require(connection >= 0)
        let flags = fcntl(connection, F_GETFL)
        try #require(fcntl(connection, F_SETFL, flags | O_NONBLOCK) == 0)
        try #require(fcntl(connection, F_SETFD, FD_CLOEXEC) == 0)
        return connection
    }

    /// Opens a plain blocking connection to this listener.
    func connectPlainly() throws -> Int32 {
        let client = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let code = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0)
        return client
    }
}

/// A connection from `openssl s_client`, which shows the peer's view.
final class OpenSSLPeer {
    let process: RunningProcess
    let connection: TestConnection

    /// Starts the peer and accepts its connection, but leaves the handshake to the test.
    init(
        _ context: TLSContext, _ certificates: TestCertificates, _ arguments: [String] = [],
        isQuiet: Bool = true, serverName: String? = "localhost", on listener: TestListener? = nil
    ) throws {
        let listener = try listener ?? TestListener()
        let basics = [
            "s_client", "-connect", "127.0.0.1:\(listener.port)", "-CAfile", certificates.authorityPath,
            "-verify_return_error",
        ]
        let name = serverName.map { ["-servername", $0] } ?? ["-noservername"]
        process = try RunningProcess(
            OpenSSLTool.path, basics + name + (isQuiet ? ["-quiet"] : []) + arguments, hasInput: true)
        connection = try TestConnection(context, adopting: listener.accept())
    }

    /// Waits until the peer has written this text.
    func waitForOutput(_ text: String) async throws {
        try await eventually("the peer wrote \(text)", evidence: { self.process.transcript }) {
            process.output.contains(text) || process.errorOutput.contains(text)
        }
    }
}
