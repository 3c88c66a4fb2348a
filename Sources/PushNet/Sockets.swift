// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// Operations on listening and accepted sockets.
package enum Sockets {
    /// The number of connections that the kernel may queue for `accept`; the kernel caps it at its own `somaxconn`.
    static let backlogConnectionCountMax: Int32 = 4_096

    /// The time without an acknowledgement of sent data after which the kernel drops a connection.
    static let unacknowledgedMilliseconds: Int32 = 30_000

    /// Accepts the next connection, non-blocking and with TCP_NODELAY if applicable.
    ///
    /// - Parameters:
    ///   - listener: A listening socket, TCP or UNIX.
    ///   - exhausted: Set to true if no descriptors or memory are left. The connection still waits, so the listener
    ///     stays readable: stop watching it for a while.
    /// - Returns: The connection; nil if none is waiting or `exhausted` was set.
    /// - Throws: `NetError.system` if the listener itself is unusable.
    package static func accept(_ listener: Int32, exhausted: inout Bool) throws(NetError) -> FileDescriptor? {
        while true {
            let result = push_accept_nonblocking(listener)
            if result >= 0 {
                let connection = FileDescriptor(adopting: result)
                tune(connection.rawValue)
                return connection
            }
            let code = errno
            switch code {
            case EAGAIN: return nil
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                exhausted = true
                return nil
            // According to accept(2), these belong to a connection that failed while it waited. Take the next one.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH,
                EPERM:
                continue
            default: throw systemFailure("accept4", code)
            }
        }
    }

    /// Sends small answers immediately, and detects vanished peers.
    ///
    /// A UNIX socket has nothing to set, and a broken connection reports its error on the next read. So failures are
    /// ignored here.
    ///
    /// - Parameter connection: An accepted or connecting socket.
    static func tune(_ connection: Int32) {
        _ = setOption(connection, Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
        _ = setOption(connection, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, to: unacknowledgedMilliseconds)
    }

    /// Returns the port that a TCP socket is bound to.
    package static func localPort(_ socket: Int32) throws(NetError) -> UInt16 {
        var address = sockaddr_storage()
        var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = try syscall("getsockname") {
            unsafe withUnsafeMutablePointer(to: &address) { storage in
                unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe getsockname(socket, generic, &byteCount)
                }
            }
        }
        // In both sockaddr_in and sockaddr_in6, the port follows the family, in network order.
        guard address.ss_family == AF_INET || address.ss_family == AF_INET6 else {
            throw .badAddress("a socket of address family \(address.ss_family) has no port")
        }
        return unsafe withUnsafeBytes(of: &address) { bytes in
            let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_port) ?? 2
            return UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        }
    }

    /// Returns the user, group and process at the other end of a UNIX socket.
    package static func peerCredentials(
        _ socket: Int32
    ) throws(NetError) -> (user: UInt32, group: UInt32, process: Int32) {
        var user: UInt32 = 0
        var group: UInt32 = 0
        var process: Int32 = 0
        _ = try syscall("getsockopt", about: "SO_PEERCRED") {
            unsafe push_peer_credentials(socket, &user, &group, &process)
        }
        return (user, group, process)
    }

    /// Reads with read(2); returns the number of bytes, 0 at the end, or nil for EAGAIN.
    package static func read(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(NetError) -> Int? {
        try syscall("read") { unsafe Glibc.read(socket, buffer.baseAddress, buffer.count) }
    }

    /// Copies waiting input with recv(2) and MSG_PEEK; the input stays in the socket.
    ///
    /// - Returns: The number of bytes, 0 at the end of input, or nil for EAGAIN.
    package static func peek(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(NetError) -> Int? {
        try syscall("recv") { unsafe Glibc.recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_PEEK)) }
    }

    /// Sets the number of bytes that must arrive before a socket becomes readable (SO_RCVLOWAT).
    ///
    /// The end of input also makes it readable, and so does a shortage of memory in the kernel.
    ///
    /// - Parameters:
    ///   - socket: A TCP socket.
    ///   - byteCount: The number of bytes; 1 is the kernel's default.
    /// - Throws: `NetError.system` if the socket is unusable.
    package static func setReadableByteCount(_ socket: Int32, to byteCount: Int) throws(NetError) {
        guard setOption(socket, SOL_SOCKET, SO_RCVLOWAT, to: Int32(clamping: byteCount)) else {
            throw systemFailure("setsockopt", errno)
        }
    }

    /// Writes with send(2) and MSG_NOSIGNAL; returns the number of bytes, or nil for EAGAIN.
    package static func write(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) throws(NetError) -> Int? {
        try syscall("send") { unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Ends the output with shutdown(2): the peer reads to the end and sees it; reading continues.
    package static func closeOutput(_ socket: Int32) throws(NetError) {
        _ = try syscall("shutdown") { Glibc.shutdown(socket, Int32(SHUT_WR)) }
    }

    /// Stops listening, even if others hold the descriptor: new connections are refused from now on.
    package static func stopListening(_ socket: Int32) { _ = Glibc.shutdown(socket, Int32(SHUT_RDWR)) }

    /// Sets a number with `setsockopt(2)`; returns false if the kernel rejected it.
    static func setOption(_ socket: Int32, _ level: Int32, _ name: Int32, to value: Int32) -> Bool {
        var value = value
        return unsafe setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    /// Creates a non-blocking stream socket.
    static func make(family: Int32, about subject: String) throws(NetError) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard let socket = try syscall("socket", about: subject, { Glibc.socket(family, type, 0) }) else {
            throw systemFailure("socket", EAGAIN, about: subject)
        }
        return FileDescriptor(adopting: socket)
    }
}
