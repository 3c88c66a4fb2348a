// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCurl
internal import PushNet

/// Drives a `MultiClient` from an event loop.
final class CurlDriver: SocketWatcher {
    private let loop: EventLoop
    private var sockets: [Int32: WatchedSocket] = [:]
    private var timer: TimerID?
    /// Set right after the client was made with this driver.
    weak var client: MultiClient?

    init(loop: EventLoop) { self.loop = loop }

    func watch(_ socket: Int32, readable: Bool, writable: Bool) {
        var readiness: Readiness = []
        if readable { readiness.insert(.readable) }
        if writable { readiness.insert(.writable) }
        guard !readiness.isEmpty else {
            sockets[socket] = nil
            return
        }
        do {
            if let watched = sockets[socket] { return try watched.modify(readiness) }
            sockets[socket] = try WatchedSocket(socket, for: readiness, loop: loop, driver: self)
        } catch {
            // The kernel has no room: the transfer ends by its own timeout or heartbeat, and is tried again.
            agentLog.error("socket_not_watched", ["error": "\(error)"])
        }
    }

    func setTimer(after delay: Duration?) {
        if let timer { loop.cancel(timer) }
        timer = delay.map { delay in
            loop.schedule(after: delay) { [weak self] in
                self?.timer = nil
                self?.client?.timerFired()
            }
        }
    }

    fileprivate func ready(_ socket: Int32, _ readiness: Readiness) {
        let hasFailed = readiness.contains(.failed)
        client?.socketReady(
            socket, readable: hasFailed || readiness.contains(.readable), writable: readiness.contains(.writable))
    }
}

/// One socket of libcurl's that the loop watches, until this goes.
///
/// Through a descriptor of its own, because libcurl 7.88 closes a socket that lost the race between addresses before it
/// says so: by then the number may belong to another file, and epoll would be told nonsense about that.
private final class WatchedSocket {
    private weak var driver: CurlDriver?
    private let socket: Int32
    private let duplicate: FileDescriptor
    private let loop: EventLoop
    private var registration: Registration?

    init(_ socket: Int32, for readiness: Readiness, loop: EventLoop, driver: CurlDriver) throws(NetError) {
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system(call: "fcntl", code: errno, subject: "a socket of libcurl's") }
        duplicate = FileDescriptor(adopting: descriptor)
        self.socket = socket
        self.loop = loop
        self.driver = driver
        let relay = Relay()
        registration = try loop.register(descriptor, for: readiness, handler: relay)
        relay.socket = self
    }

    deinit { if let registration { loop.deregister(registration) } }

    func modify(_ readiness: Readiness) throws(NetError) {
        if let registration { try loop.modify(registration, for: readiness) }
    }

    fileprivate func ready(_ readiness: Readiness) { driver?.ready(socket, readiness) }

    /// What the loop keeps: not the socket itself, so that it can go.
    private final class Relay: EventHandler {
        weak var socket: WatchedSocket?
        func ready(_ readiness: Readiness) { socket?.ready(readiness) }
    }
}
