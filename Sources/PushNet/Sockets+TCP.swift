// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Sockets {
    /// Opens a listening, non-blocking TCP socket with SO_REUSEADDR and, on request, SO_REUSEPORT.
    ///
    /// - Parameters:
    ///   - host: A name, an address, or `*` for all addresses. A name is resolved, which may block, and the first of
    ///     its addresses that can be bound is used. `*` means IPv6 and IPv4 together (dual-stack), or only IPv4 on a
    ///     machine without IPv6.
    ///   - port: The port in host byte order; 0 lets the kernel choose.
    ///   - sharingPort: Whether other sockets of this user may listen on the same port; the kernel distributes
    ///     connections.
    /// - Returns: The listening socket.
    /// - Throws: `NetError.badAddress` for an invalid host or one without an address; `NetError.system` if the address
    ///   cannot be bound: choose another one.
    package static func listen(host: String, port: UInt16, sharingPort: Bool) throws(NetError) -> FileDescriptor {
        guard host == "*" else {
            return try listen(at: addresses(of: host, port: port), sharingPort: sharingPort)
        }
        do {
            return try listen(at: [.any(family: AF_INET6, port: port)], sharingPort: sharingPort)
        } catch .system(_, EAFNOSUPPORT, _), .system(_, EADDRNOTAVAIL, _) {
            return try listen(at: [.any(family: AF_INET, port: port)], sharingPort: sharingPort)
        }
    }

    /// Listens at the first address that can be bound.
    private static func listen(at addresses: [SocketAddress], sharingPort: Bool) throws(NetError) -> FileDescriptor {
        var failure = NetError.badAddress("a host without an address")
        for address in addresses {
            do {
                return try listen(at: address, sharingPort: sharingPort)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func listen(at address: SocketAddress, sharingPort: Bool) throws(NetError) -> FileDescriptor {
        let subject = address.subject
        let socket = try make(family: address.family, about: subject)
        try require(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, 1, about: subject)
        if sharingPort { try require(socket.rawValue, SOL_SOCKET, SO_REUSEPORT, 1, about: subject) }
        if address.family == AF_INET6 {
            try require(
                socket.rawValue, Int32(IPPROTO_IPV6), IPV6_V6ONLY, address.isDualStack ? 0 : 1, about: subject)
        }
        _ = try syscall("bind", about: subject) { address.bind(socket.rawValue) }
        _ = try syscall("listen", about: subject) { Glibc.listen(socket.rawValue, backlogConnectionCountMax) }
        return socket
    }

    private static func require(
        _ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32, about subject: String
    ) throws(NetError) {
        guard setOption(socket, level, name, to: value) else {
            throw systemFailure("setsockopt", errno, about: subject)
        }
    }

    /// Resolves a host with `getaddrinfo(3)`.
    static func addresses(of host: String, port: UInt16) throws(NetError) -> [SocketAddress] {
        // The C library would end the name at a zero byte.
        guard !host.isEmpty, !host.utf8.contains(0) else { throw .badAddress("\"\(host)\" is not a host name") }
        var hints = unsafe addrinfo(
            ai_flags: AI_PASSIVE | AI_NUMERICSERV, ai_family: AF_UNSPEC, ai_socktype: Int32(SOCK_STREAM.rawValue),
            ai_protocol: 0, ai_addrlen: 0, ai_addr: nil, ai_canonname: nil, ai_next: nil)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, "\(port)", &hints, &list)
        guard code == 0 else { throw .badAddress("\(host): \(unsafe String(cString: gai_strerror(code)))") }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr {
                unsafe addresses.append(
                    SocketAddress(address, byteCount: entry.pointee.ai_addrlen, subject: "\(host) port \(port)"))
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }
}

extension Sockets {
    /// An address to bind or to connect to, copied from the C library's memory.
    struct SocketAddress {
        private(set) var storage = sockaddr_storage()
        private let byteCount: socklen_t
        let isDualStack: Bool
        let subject: String

        var family: Int32 { Int32(storage.ss_family) }

        init(_ address: UnsafePointer<sockaddr>, byteCount: socklen_t, subject: String) {
            self.byteCount = min(byteCount, socklen_t(MemoryLayout<sockaddr_storage>.size))
            isDualStack = false
            self.subject = subject
            let bytes = unsafe UnsafeRawBufferPointer(start: address, count: Int(self.byteCount))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.copyMemory(from: bytes) }
        }

        private init(_ storage: sockaddr_storage, byteCount: Int, subject: String) {
            self.storage = storage
            self.byteCount = socklen_t(byteCount)
            isDualStack = true
            self.subject = subject
        }

        /// Whether only this machine can reach the address: 127.0.0.0/8 or ::1.
        var isLoopback: Bool {
            let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
            return unsafe withUnsafeBytes(of: storage) { bytes in
                guard family == AF_INET6 else {
                    return unsafe bytes[MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 4] == 127
                }
                return unsafe bytes[offset..<offset + 15].allSatisfy { $0 == 0 } && bytes[offset + 15] == 1
            }
        }

        /// Returns the wildcard address of a family: all zeros except the port.
        static func any(family: Int32, port: UInt16) -> SocketAddress {
            var storage = sockaddr_storage()
            storage.ss_family = sa_family_t(family)
            // In both sockaddr_in and sockaddr_in6, the port follows the family, in network order.
            let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_port) ?? 2
            unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes.storeBytes(of: port.bigEndian, toByteOffset: offset, as: UInt16.self)
            }
            let byteCount = family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
            return SocketAddress(storage, byteCount: byteCount, subject: "* port \(port)")
        }

        /// Binds a socket to this address with `bind(2)`.
        func bind(_ socket: Int32) -> Int32 { unsafe with { unsafe Glibc.bind(socket, $0, $1) } }

        /// Connects a socket to this address with `connect(2)`.
        func connect(_ socket: Int32) -> Int32 { unsafe with { unsafe Glibc.connect(socket, $0, $1) } }

        /// Calls the body with the address in the form that the system calls expect.
        private func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            unsafe withUnsafePointer(to: storage) { storage in
                unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe body(generic, byteCount)
                }
            }
        }
    }
}
