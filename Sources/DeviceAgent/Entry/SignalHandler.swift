// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import Glibc
internal import PushNet

/// Turns SIGTERM and SIGINT into a call on the loop.
final class SignalHandler: EventHandler {
    private let queue: SignalQueue
    /// Called for each signal.
    var onStop: () -> Void = {}
    private var registration: Registration?
    private let loop: EventLoop

    /// Blocks the signals; must be created before any thread starts.
    init(loop: EventLoop) throws(NetError) {
        queue = try SignalQueue([SIGTERM, SIGINT])
        self.loop = loop
        registration = try loop.register(queue.descriptor, for: .readable, handler: self)
    }

    /// Stops handling signals; must be called before the loop is released.
    func stop() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    func ready(_ readiness: Readiness) {
        while let signal = try? queue.next() {
            agentLog.info("stopping", ["signal": "\(signal)"])
            onStop()
        }
    }
}
