// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Sockets {
    /// Returns whether an open descriptor is a TCP socket that listens at an address of a configured host.
    ///
    /// - Parameters:
    ///   - descriptor: Any open descriptor.
    ///   - host: A name, an address, or `*` for all addresses.
    ///   - port: The port in host byte order; 0 matches any port.
    /// - Returns: Whether it listens there.
    package static func listens(_ descriptor: Int32, at host: String, port: UInt16) -> Bool {
        var isListening: Int32 = 0
        var byteCount = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &byteCount) == 0, isListening == 1,
            let bound = try? boundAddress(of: descriptor)
        else { return false }
        guard port == 0 || bound.port == port else { return false }
        guard host != "*" else { return bound.isAny }
        return (try? addresses(of: host, port: port).contains { $0.hasHost(of: bound) }) ?? false
    }

    /// Takes over a listening socket that this process inherited: its accepted connections do not block, and child
    /// processes do not inherit it.
    package static func adoptListening(_ descriptor: Int32) -> FileDescriptor {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return FileDescriptor(adopting: descriptor)
    }

    /// Returns another descriptor of a socket.
    package static func duplicate(_ descriptor: Int32) throws(NetError) -> FileDescriptor {
        let copy = try syscall("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
        return FileDescriptor(adopting: copy ?? descriptor)
    }

    /// Closes a descriptor that this process inherited and does not need.
    package static func closeInherited(_ descriptor: Int32) { _ = close(descriptor) }

    private static func boundAddress(of socket: Int32) throws(NetError) -> SocketAddress {
        var address = sockaddr_storage()
        var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = try syscall("getsockname") {
            unsafe withUnsafeMutablePointer(to: &address) { storage in
                unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe getsockname(socket, generic, &byteCount)
                }
            }
        }
        return unsafe withUnsafePointer(to: address) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe SocketAddress(generic, byteCount: byteCount, subject: "")
            }
        }
    }
}

extension Sockets.SocketAddress {
    /// The bytes of the address without family, port and scope.
    private var hostBytes: [UInt8] {
        let range = family == AF_INET6 ? 8..<24 : 4..<8
        return unsafe withUnsafeBytes(of: storage) { unsafe Array($0[range]) }
    }

    /// The port in host byte order.
    var port: UInt16 {
        unsafe withUnsafeBytes(of: storage) {
            UInt16(bigEndian: unsafe $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Whether the address stands for all addresses.
    var isAny: Bool { (family == AF_INET || family == AF_INET6) && hostBytes.allSatisfy { $0 == 0 } }

    /// Returns whether both addresses name the same host.
    func hasHost(of other: Sockets.SocketAddress) -> Bool { family == other.family && hostBytes == other.hostBytes }
}
