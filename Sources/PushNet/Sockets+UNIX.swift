// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Sockets {
    /// The longest path of a UNIX socket in bytes: `sun_path` without its terminating zero.
    package static let pathByteCountMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Opens a listening UNIX stream socket; replaces a stale socket file of this user, but not a live one.
    ///
    /// - Parameters:
    ///   - path: At most `pathByteCountMax` bytes; its folder must exist and belong to users who may replace the file.
    ///   - mode: The permission bits, regardless of the umask; the file never has more than these, not even for a
    ///     moment.
    /// - Returns: The listening socket. Closing it keeps the file; the next `listen` replaces it.
    /// - Throws: `NetError.badAddress` for a path that is empty or too long. `NetError.system` with EADDRINUSE if
    ///   another process listens there or the file is not a socket of this user, and with other codes if the kernel
    ///   fails the call.
    package static func listen(path: String, mode: UInt32) throws(NetError) -> FileDescriptor {
        let address = try UNIXAddress(path)
        try removeStaleSocket(at: path, address)
        let socket = try make(family: AF_UNIX, about: path)
        // Linux gives the file the socket's own mode minus the umask, so it is restricted before anyone can see it.
        // Then chmod adds the bits that the umask removed. Setting the umask instead would change it for all threads.
        _ = try syscall("fchmod", about: path) { fchmod(socket.rawValue, mode) }
        _ = try syscall("bind", about: path) { unsafe address.with { unsafe Glibc.bind(socket.rawValue, $0, $1) } }
        _ = try syscall("chmod", about: path) { unsafe chmod(path, mode) }
        _ = try syscall("listen", about: path) { Glibc.listen(socket.rawValue, backlogConnectionCountMax) }
        return socket
    }

    /// Removes the socket file of a server that has ended: owned by this user, and without a listener.
    private static func removeStaleSocket(at path: String, _ address: UNIXAddress) throws(NetError) {
        var information = stat()
        if unsafe lstat(path, &information) != 0 {
            guard errno == ENOENT else { throw systemFailure("lstat", errno, about: path) }
            return
        }
        guard information.st_mode & S_IFMT == S_IFSOCK, information.st_uid == geteuid() else {
            throw systemFailure("bind", EADDRINUSE, about: path)
        }
        let probe = try make(family: AF_UNIX, about: path)
        // Any result other than a refusal means that a process is listening, including a full queue (EAGAIN).
        let isRefused =
            unsafe address.with { unsafe Glibc.connect(probe.rawValue, $0, $1) } != 0 && errno == ECONNREFUSED
        guard isRefused else { throw systemFailure("bind", EADDRINUSE, about: path) }
        _ = try syscall("unlink", about: path) { unsafe unlink(path) }
    }
}

/// A UNIX socket address (`sockaddr_un`).
private struct UNIXAddress {
    private var storage = sockaddr_un()

    init(_ path: String) throws(NetError) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Sockets.pathByteCountMax, !bytes.contains(0) else {
            throw .badAddress("the path of a UNIX socket has 1 to \(Sockets.pathByteCountMax) bytes: \"\(path)\"")
        }
        storage.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &storage.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Calls the body with the address in the form that `bind(2)` and `connect(2)` expect.
    func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
