// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import TestSupport
import Testing

@Suite struct SocketsUNIXTests {
    /// Returns the permission bits of a file.
    private static func mode(of path: String) -> mode_t {
        var information = stat()
        unsafe lstat(path, &information)
        return information.st_mode & 0o7777
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func `the socket file has exactly the requested mode`(mode: UInt32) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/admin.socket"
        let listener = try Sockets.listen(path: path, mode: mode)
        #expect(listener.rawValue >= 0)
        #expect(Self.mode(of: path) == mode)
    }

    @Test func `the umask does not change the socket's mode`() async {
        await #expect(processExitsWith: .success) {
            for mask in [0, 0o777] as [mode_t] {
                umask(0o077)
                let folder = try TemporaryDirectory()
                umask(mask)
                let listener = try Sockets.listen(path: folder.path + "/admin.socket", mode: 0o640)
                guard Self.mode(of: folder.path + "/admin.socket") == 0o640, listener.rawValue >= 0 else { exit(1) }
            }
        }
    }

    @Test func `the socket file of a server that is gone is replaced`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/admin.socket"
        do { _ = try Sockets.listen(path: path, mode: 0o600) }
        #expect(unsafe access(path, F_OK) == 0)
        let listener = try Sockets.listen(path: path, mode: 0o600)
        let client = try connect(toPath: path)
        try waitUntilReadable(listener.rawValue)
        #expect(client.rawValue >= 0)
    }

    @Test func `the socket of a running server is refused and keeps working`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/admin.socket"
        let listener = try Sockets.listen(path: path, mode: 0o600)
        #expect(throws: NetError.system(call: "bind", code: EADDRINUSE, subject: path)) {
            _ = try Sockets.listen(path: path, mode: 0o600)
        }
        var isExhausted = false
        // The second listener made this connection to check whether the first one is running.
        let hasProbe = try Sockets.accept(listener.rawValue, exhausted: &isExhausted) != nil
        #expect(hasProbe)
        let client = try connect(toPath: path)
        try waitUntilReadable(listener.rawValue)
        #expect(client.rawValue >= 0)
    }

    @Test func `a file that is not a socket is refused and stays`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/admin.socket"
        do { _ = FileDescriptor(adopting: unsafe open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)) }
        #expect(throws: NetError.system(call: "bind", code: EADDRINUSE, subject: path)) {
            _ = try Sockets.listen(path: path, mode: 0o600)
        }
        #expect(unsafe access(path, F_OK) == 0)
    }

    @Test func `a missing folder is the kernel's error`() {
        let path = "/nonexistent-folder/admin.socket"
        #expect(throws: NetError.system(call: "bind", code: ENOENT, subject: path)) {
            _ = try Sockets.listen(path: path, mode: 0o600)
        }
    }

    @Test func `the longest path works, and one more byte is refused`() throws {
        let folder = try TemporaryDirectory()
        let space = Sockets.pathByteCountMax - folder.path.utf8.count - 1
        let longest = folder.path + "/" + String(repeating: "s", count: space)
        let listener = try Sockets.listen(path: longest, mode: 0o600)
        #expect(listener.rawValue >= 0)
        for path in [longest + "s", "", folder.path + "/a\u{0}b"] {
            #expect {
                _ = try Sockets.listen(path: path, mode: 0o600)
            } throws: { error in
                guard case NetError.badAddress = error else { return false }
                return true
            }
        }
    }

    @Test func `the peer's credentials are this process's own`() throws {
        let pair = try SocketPair()
        let peer = try Sockets.peerCredentials(pair.near.rawValue)
        #expect(peer.user == geteuid())
        #expect(peer.group == getegid())
        #expect(peer.process == getpid())
    }

    @Test func `a UNIX socket has no port`() throws {
        let pair = try SocketPair()
        let near = pair.near.rawValue
        #expect(throws: NetError.badAddress("a socket of address family 1 has no port")) {
            _ = try Sockets.localPort(near)
        }
    }

    @Test func `an accepted UNIX connection carries bytes`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/admin.socket"
        let listener = try Sockets.listen(path: path, mode: 0o600)
        let client = try connect(toPath: path)
        try waitUntilReadable(listener.rawValue)
        var isExhausted = false
        let connection = try Sockets.accept(listener.rawValue, exhausted: &isExhausted)
        guard let connection else {
            Issue.record("no connection")
            return
        }
        try send("ping", to: client.rawValue)
        #expect(try receive(from: connection.rawValue) == "ping")
    }
}

/// Connects to a UNIX socket.
func connect(toPath path: String) throws -> FileDescriptor {
    let client = FileDescriptor(
        adopting: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let code = unsafe withUnsafePointer(to: address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(client.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(code == 0)
    return client
}
