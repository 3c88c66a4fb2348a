// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushNet

/// A TCP proxy on the loop of a test, which can cut connections or stop forwarding.
final class LinkProxy: EventHandler {
    let port: UInt16
    private let listener: FileDescriptor
    private let target: UInt16
    private let loop: EventLoop
    private var registration: Registration?
    private var pipes: [ProxyPipe] = []
    /// Whether new connections are closed at once.
    var refuses = false
    /// The number of accepted connections.
    private(set) var acceptedCount = 0
    /// Whether all connections stay open without forwarding anything.
    var isStalled = false {
        didSet { for pipe in pipes { pipe.isStalled = isStalled } }
    }

    init(to target: UInt16, on loop: EventLoop) throws {
        self.target = target
        self.loop = loop
        listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        port = try Sockets.localPort(listener.rawValue)
        registration = try loop.register(listener.rawValue, for: .readable, handler: self)
    }

    /// Closes all connections, and the listening socket.
    func stop() {
        cut()
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    /// Closes all connections.
    func cut() {
        for pipe in pipes { pipe.close() }
        pipes = []
    }

    func ready(_ readiness: Readiness) {
        var isExhausted = false
        while let accepted = try? Sockets.accept(listener.rawValue, exhausted: &isExhausted) {
            acceptedCount += 1
            guard !refuses, let out = try? Sockets.connect(host: "127.0.0.1", port: target) else { continue }
            pipes.append(ProxyPipe(accepted, out, on: loop))
            pipes.last?.isStalled = isStalled
        }
    }
}

/// A forwarded connection.
private final class ProxyPipe {
    /// One direction: reads from a socket and writes to the other one.
    private final class End: EventHandler {
        let descriptor: FileDescriptor
        weak var pipe: ProxyPipe?
        var registration: Registration?
        /// The bytes that this socket has not accepted yet.
        var unsent: [UInt8] = []

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

        func ready(_ readiness: Readiness) { pipe?.move() }
    }

    private static let unsentByteCountMax = 64 << 10

    private let ends: [End]
    private let loop: EventLoop
    private var isClosed = false
    var isStalled = false {
        didSet { watch() }
    }

    init(_ accepted: consuming FileDescriptor, _ out: consuming FileDescriptor, on loop: EventLoop) {
        ends = [End(accepted), End(out)]
        self.loop = loop
        for end in ends {
            end.pipe = self
            end.registration = try? loop.register(end.descriptor.rawValue, for: .readable, handler: end)
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        for end in ends {
            if let registration = end.registration { loop.deregister(registration) }
            // The handlers may still be called in this turn.
            end.pipe = nil
            shutdown(end.descriptor.rawValue, Int32(SHUT_RDWR))
        }
    }

    fileprivate func move() {
        guard !isClosed, !isStalled else { return }
        for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] where !isClosed { move(from, to) }
        watch()
    }

    private func move(_ from: End, _ to: End) {
        write(to)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while to.unsent.count < Self.unsentByteCountMax {
            let count = unsafe recv(from.descriptor.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count == 0 || (count < 0 && errno != EAGAIN && errno != ENOTCONN) { return close() }
            guard count > 0 else { return }
            to.unsent += buffer[..<count]
            write(to)
        }
    }

    private func write(_ end: End) {
        while !end.unsent.isEmpty {
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            let count = unsafe send(end.descriptor.rawValue, end.unsent, end.unsent.count, flags)
            guard count > 0 else { return }
            end.unsent.removeFirst(count)
        }
    }

    private func watch() {
        guard !isClosed else { return }
        for (end, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            var wanted: Readiness = []
            if !isStalled, other.unsent.count < Self.unsentByteCountMax { wanted.insert(.readable) }
            if !isStalled, !end.unsent.isEmpty { wanted.insert(.writable) }
            if let registration = end.registration { try? loop.modify(registration, for: wanted) }
        }
    }
}
