// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
package import PushNet

/// A listening socket of a loop, with the endpoint that answers its connections.
final class Listener: EventHandler {
    let kind: ListenerKind
    private let socket: ListeningSocket
    private unowned var loop: ServerLoop
    private var registration: Registration?
    /// A spare descriptor, closed to accept one administrator or monitoring system when descriptors run out.
    private var spare: FileDescriptor?
    /// The pause in accepting connections when descriptors run out.
    private static let exhaustionPause = Duration.milliseconds(100)
    private(set) lazy var endpoint = loop.makeEndpoint(kind)

    init(_ socket: ListeningSocket, loop: ServerLoop) {
        kind = socket.kind
        self.socket = socket
        self.loop = loop
    }

    func start() throws(NetError) {
        if !kind.isNetwork { spare = FileDescriptor.spare() }
        registration = try loop.events.register(socket.descriptor.rawValue, for: .readable, handler: self)
    }

    /// Returns the principal of a new connection from an address.
    func principal(of source: SourceAddress) -> Principal {
        switch kind {
        case .network: .stranger(source.network)
        case .admin: .administrator
        case .metrics: .monitor
        }
    }

    /// Refuses connections from now on; the kernel resets those that were not accepted, unless another process
    /// continues with the socket.
    func close() {
        pauseWatching()
        guard !kind.isNetwork || !loop.context.keepsListening else { return }
        Sockets.stopListening(socket.descriptor.rawValue)
    }

    private func pauseWatching() {
        guard let registration else { return }
        loop.events.deregister(registration)
        self.registration = nil
    }

    func ready(_ readiness: Readiness) {
        guard hasRoom() else { return pause() }
        for _ in 0..<Limits.acceptsPerTurnCountMax {
            var isExhausted = false
            do throws(NetError) {
                guard let accepted = try Sockets.accept(socket.descriptor.rawValue, exhausted: &isExhausted) else {
                    guard isExhausted else { return }
                    loop.context.log.warning(
                        "descriptors_exhausted", ["remedy": "raise the limit of open files (LimitNOFILE=)"],
                        about: "descriptors")
                    // The descriptor of a closed connection becomes free at the end of this turn.
                    if loop.makeRoom() { return }
                    if giveUpSpare() { continue }
                    return pause()
                }
                if isProxy(accepted.rawValue) {
                    loop.greet(accepted, from: self)
                } else {
                    loop.adopt(accepted, from: self)
                }
                guard hasRoom() else { return pause() }
            } catch {
                // During a shutdown, another loop that shares the socket may have stopped it.
                if case .system(_, EINVAL, _) = error { return pauseWatching() }
                loop.context.log.warning("accept_failed", ["error": error.description])
                return
            }
        }
    }

    /// Returns whether a connection comes from a proxy that sends the address of its client.
    private func isProxy(_ socket: Int32) -> Bool {
        let proxies = loop.context.proxies
        guard !proxies.isEmpty, kind.isNetwork else { return false }
        let source = SourceAddress(peerOf: socket)
        return proxies.contains { $0.contains(source) }
    }

    /// Stops watching the socket for a short time, because a watched listener would spin without free descriptors.
    private func pause() {
        pauseWatching()
        loop.events.schedule(after: Self.exhaustionPause) {
            guard !self.loop.isShuttingDown else { return }
            do throws(NetError) { try self.start() } catch {
                self.loop.context.log.error("listener_lost", ["error": error.description])
            }
        }
    }

    /// Makes space for one more connection, if necessary by closing an idle stranger.
    ///
    /// Other connections wait in the kernel's queue. Administrators and monitoring systems always fit.
    ///
    /// - Returns: Whether a connection fits.
    private func hasRoom() -> Bool {
        let limiter = loop.context.limiter
        guard kind.isNetwork, limiter.isFull else { return true }
        limiter.noteFull()
        loop.context.log.warning(
            "connections_full", ["remedy": "raise the limit of open files (LimitNOFILE=), or the setting connections"],
            about: "connections")
        return loop.makeRoom()
    }

    /// Frees the spare descriptor for one connection; returns false if that was done already.
    private func giveUpSpare() -> Bool {
        guard spare != nil else { return false }
        spare = nil
        return true
    }
}

/// Owns a listening socket while it moves to the thread of its loop.
package final class ListeningSocket: Sendable {
    package let descriptor: FileDescriptor
    package let kind: ListenerKind

    package init(_ descriptor: consuming FileDescriptor, _ kind: ListenerKind) {
        self.descriptor = descriptor
        self.kind = kind
    }
}
