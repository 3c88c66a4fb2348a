// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// A libcurl socket that the event loop watches for the lifetime of this object.
///
/// Watches a duplicate of the descriptor. When several addresses race, libcurl 7.88 closes the socket that lost before
/// it reports that. Its number may then belong to another file, and epoll would watch the wrong file.
final class WatchedSocket {
    private let onReady: (Readiness) -> Void
    private let duplicate: FileDescriptor
    private let loop: EventLoop
    private var registration: Registration?

    /// Watches a socket; the closure must not retain the object.
    init(
        _ socket: Int32, for readiness: Readiness, loop: EventLoop, onReady: @escaping (Readiness) -> Void
    ) throws(NetError) {
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system(call: "fcntl", code: errno, subject: "a socket of libcurl's") }
        duplicate = FileDescriptor(adopting: descriptor)
        self.loop = loop
        self.onReady = onReady
        let relay = Relay()
        registration = try loop.register(descriptor, for: readiness, handler: relay)
        relay.socket = self
    }

    deinit { if let registration { loop.deregister(registration) } }

    /// Changes the readiness to watch for.
    func modify(_ readiness: Readiness) throws(NetError) {
        if let registration { try loop.modify(registration, for: readiness) }
    }

    fileprivate func ready(_ readiness: Readiness) { onReady(readiness) }

    /// The object that the loop retains in place of the watched socket, so that the socket can be released.
    private final class Relay: EventHandler {
        weak var socket: WatchedSocket?
        func ready(_ readiness: Readiness) { socket?.ready(readiness) }
    }
}
