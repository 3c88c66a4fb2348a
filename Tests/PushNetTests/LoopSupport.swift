// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import TestSupport
import Testing

/// Runs the loop until a handler stops it.
///
/// The test fails when that takes longer than ten seconds times the factor of `Patience`.
///
/// - Parameters:
///   - loop: The loop.
///   - sourceLocation: The location of the failure.
func runUntilStopped(_ loop: EventLoop, sourceLocation: SourceLocation = #_sourceLocation) {
    let deadline = loop.schedule(after: .seconds(10) * Patience.factor) {
        Issue.record("nobody stopped the loop", sourceLocation: sourceLocation)
        loop.stop()
    }
    loop.run()
    loop.cancel(deadline)
}

/// A handler that calls a closure.
final class ClosureHandler: EventHandler {
    private let body: (Readiness) -> Void

    init(_ body: @escaping (Readiness) -> Void) { self.body = body }

    func ready(_ readiness: Readiness) { body(readiness) }
}

/// Two connected non-blocking UNIX sockets.
struct SocketPair: ~Copyable {
    let near: FileDescriptor
    let far: FileDescriptor

    init() throws {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let code = unsafe socketpair(AF_UNIX, type, 0, &numbers)
        try #require(code == 0)
        near = FileDescriptor(adopting: numbers[0])
        far = FileDescriptor(adopting: numbers[1])
    }

    /// Sends a text to the near end.
    func sendToNear(_ text: String = "x") throws {
        try send(text, to: far.rawValue)
    }

    /// Reads all pending text from the near end.
    func drainNear() throws -> String? { try receive(from: near.rawValue) }
}

/// Writes a whole text.
func send(_ text: String, to socket: Int32) throws {
    let bytes = Array(text.utf8)
    let count = try unsafe bytes.withUnsafeBytes { try unsafe Sockets.write(socket, $0) }
    try #require(count == bytes.count)
}

/// Reads at most 64 KiB of pending text, or returns nil if no text is pending.
func receive(from socket: Int32) throws -> String? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe Sockets.read(socket, into: $0) }
    return count.map { String(decoding: bytes.prefix($0), as: UTF8.self) }
}

/// Waits at most ten seconds until a socket is readable.
func waitUntilReadable(_ socket: Int32) throws {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    try #require(unsafe poll(&entry, 1, Int32(10_000 * Patience.factor)) == 1)
}
