// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushCurl

/// A minimal loop over poll(2) that drives one `MultiClient` in a test.
final class PollLoop: SocketWatcher {
    weak var client: MultiClient?
    private var watched: [Int32: Int16] = [:]
    private var timerAt: ContinuousClock.Instant?

    func watch(_ socket: Int32, readable: Bool, writable: Bool) {
        let events = Int16((readable ? POLLIN : 0) | (writable ? POLLOUT : 0))
        watched[socket] = events == 0 ? nil : events
    }

    func setTimer(after delay: Duration?) {
        timerAt = delay.map { ContinuousClock.now + $0 }
    }

    /// Runs the loop until the condition holds, and returns false when the deadline passes first.
    func run(within deadline: Duration = .seconds(20), until isDone: () -> Bool) -> Bool {
        let end = ContinuousClock.now + deadline
        while !isDone() {
            guard ContinuousClock.now < end else { return false }
            turn()
        }
        return true
    }

    private func turn() {
        var descriptors = watched.map { pollfd(fd: $0.key, events: $0.value, revents: 0) }
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), waitMilliseconds)
        for descriptor in descriptors where descriptor.revents != 0 && watched[descriptor.fd] != nil {
            let failed = descriptor.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
            client?.socketReady(
                descriptor.fd, readable: failed || descriptor.revents & Int16(POLLIN) != 0,
                writable: descriptor.revents & Int16(POLLOUT) != 0)
        }
        if let timerAt, timerAt <= ContinuousClock.now {
            self.timerAt = nil
            client?.timerFired()
        }
    }

    private var waitMilliseconds: Int32 {
        guard let timerAt else { return 50 }
        return ContinuousClock.now < timerAt ? 5 : 0
    }
}

/// A client together with its loop.
struct DrivenClient {
    let loop = PollLoop()
    let client: MultiClient

    init() {
        client = MultiClient(watcher: loop)
        loop.client = client
    }

    /// Sends one request and runs the loop until it ends.
    func send(_ request: HTTPRequest) throws -> HTTPResponse {
        var result: Result<HTTPResponse, CurlError>?
        client.start(request) { result = $0 }
        guard loop.run(until: { result != nil }), let result else { throw TestFailure.deadline }
        return try result.get()
    }
}

enum TestFailure: Error { case deadline, noServer }
