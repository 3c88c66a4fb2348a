// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// Listening sockets and accepted ones.
package enum Sockets {
    /// How many connections the kernel may hold ready for `accept`; it cuts this to its own `somaxconn`.
    static let backlogConnectionCountMax: Int32 = 4_096

    /// After this long without an acknowledgement of what was sent, the kernel gives a connection up.
    static let unacknowledgedMilliseconds: Int32 = 30_000

    /// The next connection, non-blocking, TCP_NODELAY where it applies; nil when none waits or descriptors ran out
    /// (then `exhausted` is set).
    ///
    /// - Parameters:
    ///   - listener: A listening socket, TCP or UNIX.
    ///   - exhausted: Becomes true when descriptors or memory ran out. The connection still waits, so the listener stays
    ///     readable: stop watching it for a while.
    /// - Returns: The connection.
    /// - Throws: `NetError.system` when the listener itself is unusable.
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
            // accept(2): these belong to a connection that died while it waited. Take the next one.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH,
                EPERM:
                continue
            default: throw systemFailure("accept4", code)
            }
        }
    }

    /// Small answers leave at once, and a peer that vanished is noticed.
    ///
    /// On a UNIX socket there is nothing to set, and a connection that broke already says so when it is read: failures
    /// have no consequence here.
    private static func tune(_ connection: Int32) {
        _ = setOption(connection, Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
        _ = setOption(connection, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, to: unacknowledgedMilliseconds)
    }

    /// The port that a TCP socket is bound to.
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
        // sockaddr_in and sockaddr_in6 both have the port, in network order, behind the family.
        guard address.ss_family == AF_INET || address.ss_family == AF_INET6 else {
            throw .badAddress("a socket of address family \(address.ss_family) has no port")
        }
        return unsafe withUnsafeBytes(of: &address) { bytes in
            let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_port) ?? 2
            return UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        }
    }

    /// User, group and process at the other end of a UNIX socket.
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

    /// read(2): bytes read, 0 at the end, nil for EAGAIN.
    package static func read(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(NetError) -> Int? {
        try syscall("read") { unsafe Glibc.read(socket, buffer.baseAddress, buffer.count) }
    }

    /// send(2) with MSG_NOSIGNAL: bytes written, nil for EAGAIN.
    package static func write(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) throws(NetError) -> Int? {
        try syscall("send") { unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    /// shutdown(2) for writing: the peer reads to the end and sees it; reading goes on.
    package static func closeOutput(_ socket: Int32) throws(NetError) {
        _ = try syscall("shutdown") { Glibc.shutdown(socket, Int32(SHUT_WR)) }
    }

    /// Ends listening, whoever still holds the descriptor: connecting is refused from now on.
    package static func stopListening(_ socket: Int32) { _ = Glibc.shutdown(socket, Int32(SHUT_RDWR)) }

    /// Sets a number with `setsockopt(2)`; false when the kernel refused.
    static func setOption(_ socket: Int32, _ level: Int32, _ name: Int32, to value: Int32) -> Bool {
        var value = value
        return unsafe setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    /// A new non-blocking stream socket.
    static func make(family: Int32, about subject: String) throws(NetError) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard let socket = try syscall("socket", about: subject, { Glibc.socket(family, type, 0) }) else {
            throw systemFailure("socket", EAGAIN, about: subject)
        }
        return FileDescriptor(adopting: socket)
    }
}
