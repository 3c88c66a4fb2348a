// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// One socket of libcurl's that the loop watches, until this goes.
///
/// Through a descriptor of its own, because libcurl 7.88 closes a socket that lost the race between addresses before it
/// says so: by then the number may belong to another file, and epoll would be told nonsense about that.
final class WatchedSocket {
    private let onReady: (Readiness) -> Void
    private let duplicate: FileDescriptor
    private let loop: EventLoop
    private var registration: Registration?

    /// Watches a socket; the closure must not keep the object.
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

    /// Watches for something else.
    func modify(_ readiness: Readiness) throws(NetError) {
        if let registration { try loop.modify(registration, for: readiness) }
    }

    fileprivate func ready(_ readiness: Readiness) { onReady(readiness) }

    /// What the loop keeps: not the socket itself, so that it can go.
    private final class Relay: EventHandler {
        weak var socket: WatchedSocket?
        func ready(_ readiness: Readiness) { socket?.ready(readiness) }
    }
}
