// SPDX-License-Identifier: Apache-2.0

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
            if let watched = sockets.removeValue(forKey: socket) { loop.deregister(watched.registration) }
            return
        }
        do {
            if let watched = sockets[socket] { return try loop.modify(watched.registration, for: readiness) }
            let handler = SocketHandler(self, socket)
            let registration = try loop.register(socket, for: readiness, handler: handler)
            sockets[socket] = WatchedSocket(registration: registration, handler: handler)
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

    private struct WatchedSocket {
        let registration: Registration
        let handler: SocketHandler
    }
}

/// Gets the events of one socket.
private final class SocketHandler: EventHandler {
    private weak var driver: CurlDriver?
    private let socket: Int32

    init(_ driver: CurlDriver, _ socket: Int32) {
        self.driver = driver
        self.socket = socket
    }

    func ready(_ readiness: Readiness) { driver?.ready(socket, readiness) }
}
