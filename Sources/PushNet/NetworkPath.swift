// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The result of comparing a connection's source address with the one that the kernel would choose for it now.
package enum NetworkPath: Sendable, Equatable {
    /// The kernel would choose the same source address.
    case same
    /// The kernel would choose another source address: replies no longer reach the connection.
    case other
    /// No route exists now, or the result is unknown.
    case unknown

    /// Checks a connected socket without sending anything.
    ///
    /// Connecting a UDP socket makes the kernel choose a route and a source address, which is all that is needed.
    ///
    /// - Parameter socket: A connected socket, used only during the call.
    package init(of socket: Int32) {
        guard let peer = SocketEnd(of: socket, isPeer: true), let own = SocketEnd(of: socket, isPeer: false),
            let chosen = SocketEnd.chosen(towards: peer)
        else {
            self = .unknown
            return
        }
        self = own.address == chosen.address ? .same : .other
    }
}

/// One end of an IP socket.
private struct SocketEnd {
    private var storage = sockaddr_storage()
    private var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)

    private init() {}

    /// Reads `getpeername(2)` or `getsockname(2)`; nil if the result is not an IP address.
    init?(of socket: Int32, isPeer: Bool) {
        var byteCount = byteCount
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                isPeer
                    ? unsafe getpeername(socket, generic, &byteCount) : unsafe getsockname(socket, generic, &byteCount)
            }
        }
        self.byteCount = byteCount
        let isIP = Int32(storage.ss_family) == AF_INET || Int32(storage.ss_family) == AF_INET6
        guard code == 0, isIP else { return nil }
    }

    /// Returns the local end that a new socket to the peer would have; nil if no route exists.
    static func chosen(towards peer: SocketEnd) -> SocketEnd? {
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(Int32(peer.storage.ss_family), type, 0)
        guard descriptor >= 0 else { return nil }
        let probe = FileDescriptor(adopting: descriptor)
        let code = unsafe withUnsafePointer(to: peer.storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(probe.rawValue, $0, peer.byteCount)
            }
        }
        return code == 0 ? SocketEnd(of: probe.rawValue, isPeer: false) : nil
    }

    /// The IP address in network order, without the port.
    var address: [UInt8] {
        let isIPv6 = Int32(storage.ss_family) == AF_INET6
        // The address follows family and port, which are the same in both families; IPv6 has a flow label in between.
        let (offset, count) = isIPv6 ? (8, 16) : (4, 4)
        return unsafe withUnsafeBytes(of: storage) { unsafe Array($0[offset..<offset + count]) }
    }
}
