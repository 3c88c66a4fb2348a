// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCurl
internal import PushNet

/// Drives a `MultiClient` from an event loop.
final class CurlDriver: SocketWatcher {
    private let loop: EventLoop
    private var sockets: [Int32: WatchedSocket] = [:]
    private var timer: TimerID?
    /// The driven client, set right after it was created with this driver.
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
            sockets[socket] = try WatchedSocket(socket, for: readiness, loop: loop) { [weak self] in
                self?.ready(socket, $0)
            }
        } catch {
            // The kernel is out of resources. The transfer ends with its own timeout or heartbeat and is retried.
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

    private func ready(_ socket: Int32, _ readiness: Readiness) {
        let hasFailed = readiness.contains(.failed)
        client?.socketReady(
            socket, readable: hasFailed || readiness.contains(.readable), writable: readiness.contains(.writable))
    }
}
