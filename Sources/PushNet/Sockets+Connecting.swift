// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Sockets {
    /// Starts to connect to a TCP server; the socket becomes writable when it is connected, or has failed.
    ///
    /// - Parameters:
    ///   - host: A name or an address. A name is resolved, which may block for seconds.
    ///   - port: The port in host byte order.
    ///   - attempt: The number of earlier attempts, which take turns among the addresses of the host.
    /// - Returns: The non-blocking socket, which `connectionFailure` examines.
    /// - Throws: `NetError.badAddress` for a host without an address; `NetError.system` if it cannot be reached.
    package static func connect(host: String, port: UInt16, attempt: Int = 0) throws(NetError) -> FileDescriptor {
        let addresses = try addresses(of: host, port: port)
        guard !addresses.isEmpty else { throw .badAddress("\(host) has no address") }
        let address = addresses[attempt % addresses.count]
        let socket = try make(family: address.family, about: address.subject)
        tune(socket.rawValue)
        guard address.connect(socket.rawValue) != 0 else { return socket }
        let code = errno
        // After an interruption, the connection is made in the background too.
        guard code == EINPROGRESS || code == EINTR else { throw systemFailure("connect", code, about: address.subject) }
        return socket
    }

    /// Returns the reason why a socket could not be connected, from SO_ERROR; nil if it is connected.
    package static func connectionFailure(_ socket: Int32) -> NetError? {
        var code: Int32 = 0
        var byteCount = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &byteCount)
        if result != 0 { return systemFailure("getsockopt", errno) }
        return code == 0 ? nil : .system(call: "connect", code: code, subject: "")
    }

    /// Returns whether a host has only loopback addresses, which other machines cannot reach.
    ///
    /// - Parameter host: A name or an address. A name is resolved, which may block for seconds.
    /// - Returns: Whether all its addresses are loopback addresses.
    /// - Throws: `NetError.badAddress` for a host without an address.
    package static func isLoopback(_ host: String) throws(NetError) -> Bool {
        try addresses(of: host, port: 0).allSatisfy(\.isLoopback)
    }

    /// Returns whether a host is an address, so that resolving it does not block.
    package static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }
}
