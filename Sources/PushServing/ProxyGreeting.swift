// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// A connection of a proxy, until the header with the client's address has arrived.
final class ProxyGreeting: EventHandler {
    private var socket: FileDescriptor?
    private let loop: ServerLoop
    private let listener: Listener
    private var registration: Registration?
    /// The number of bytes that the header needs.
    private var byteCount = ProxyHeader.prefixByteCount
    /// The number of bytes that had arrived at the last event with too few of them.
    private var seenByteCount = 0

    init(_ socket: consuming FileDescriptor, loop: ServerLoop, listener: Listener) {
        self.socket = consume socket
        self.loop = loop
        self.listener = listener
    }

    /// Waits for the header, at most `Limits.proxyHeaderTimeout`.
    func start() throws(NetError) {
        guard let descriptor = socket?.rawValue else { return }
        try Sockets.setReadableByteCount(descriptor, to: byteCount)
        registration = try loop.events.register(descriptor, for: .readable, handler: self)
        loop.events.schedule(after: Limits.proxyHeaderTimeout) { [weak self] in self?.end() }
    }

    /// Closes the connection.
    func end() {
        guard socket != nil else { return }
        stopWatching()
        socket = nil
        loop.forget(self)
    }

    private func stopWatching() {
        if let registration { loop.events.deregister(registration) }
        registration = nil
    }

    func ready(_ readiness: Readiness) {
        guard let descriptor = socket?.rawValue else { return }
        do {
            let buffer = unsafe UnsafeMutableRawBufferPointer(rebasing: loop.readBuffer.prefix(byteCount))
            guard let count = try unsafe Sockets.peek(descriptor, into: buffer) else { return }
            guard count == byteCount else {
                // The kernel reported fewer bytes than the socket waits for. If none is new, the peer has closed.
                if count == seenByteCount { end() }
                seenByteCount = count
                return
            }
            let bytes = unsafe Array(UnsafeRawBufferPointer(buffer))
            switch try ProxyHeader.parse(bytes.span) {
            case .needs(let more):
                byteCount = more
                try Sockets.setReadableByteCount(descriptor, to: more)
            case .complete(let headerByteCount, let source):
                // The bytes after the header belong to the TLS connection.
                let header = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(headerByteCount))
                _ = try unsafe Sockets.read(descriptor, into: header)
                try Sockets.setReadableByteCount(descriptor, to: 1)
                stopWatching()
                guard let socket = socket.take() else { return }
                loop.adopt(socket, from: listener, source: source)
                loop.forget(self)
            }
        } catch {
            loop.context.log.warning(
                "proxy_header_invalid",
                [
                    "source": SourceAddress(peerOf: descriptor).description,
                    "remedy": "let the proxy send the PROXY protocol",
                ],
                about: "proxy header")
            end()
        }
    }
}

extension ServerLoop {
    /// Waits for the header of a proxy; without space for another one, the connection is closed.
    func greet(_ socket: consuming FileDescriptor, from listener: Listener) {
        guard greetings.count < Limits.proxyGreetingCountMax else { return }
        let greeting = ProxyGreeting(socket, loop: self, listener: listener)
        greetings[ObjectIdentifier(greeting)] = greeting
        do throws(NetError) { try greeting.start() } catch { greeting.end() }
    }

    /// Forgets a proxy's connection after its header has arrived, or when it ends without one.
    func forget(_ greeting: ProxyGreeting) {
        greetings[ObjectIdentifier(greeting)] = nil
        finishIfDrained()
    }
}
