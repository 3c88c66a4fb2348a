// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet

/// A listening socket of a loop, and what its connections are answered by.
final class Listener: EventHandler {
    /// What comes in through it.
    enum Kind: Sendable, Equatable {
        /// Providers and devices, over TLS.
        case network(PortRole)
        /// Administrators, over a UNIX socket.
        case admin
    }

    let kind: Kind
    private let socket: ListeningSocket
    private unowned var loop: ServerLoop
    private var registration: Registration?
    /// Given up to accept one administrator when descriptors ran out.
    private var spare: FileDescriptor?
    /// How long nobody is accepted when descriptors ran out.
    private static let exhaustionPause = Duration.milliseconds(100)
    private(set) lazy var endpoint: any Endpoint = makeEndpoint()

    init(_ socket: ListeningSocket, loop: ServerLoop) {
        kind = socket.kind
        self.socket = socket
        self.loop = loop
    }

    func start() throws(NetError) {
        if kind == .admin { spare = FileDescriptor.spare() }
        registration = try loop.events.register(socket.descriptor.rawValue, for: .readable, handler: self)
    }

    /// Refuses connections from now on; those that the kernel holds and nobody took are reset.
    func close() {
        pauseWatching()
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
                    // The descriptor of a closed connection is free at the end of this turn.
                    if loop.makeRoom() { return }
                    if giveUpSpare() { continue }
                    return pause()
                }
                loop.adopt(accepted, from: self)
                guard hasRoom() else { return pause() }
            } catch {
                loop.context.log.warning("accept_failed", ["error": error.description])
                return
            }
        }
    }

    /// Out of descriptors: a listener that stays watched would spin, so look again a little later.
    private func pause() {
        pauseWatching()
        loop.events.schedule(after: Self.exhaustionPause) {
            guard !self.loop.isShuttingDown else { return }
            do throws(NetError) { try self.start() } catch {
                self.loop.context.log.error("listener_lost", ["error": error.description])
            }
        }
    }

    /// Whether one more connection fits, if need be in the place of an idle stranger.
    ///
    /// The rest waits in the kernel's queue. Administrators always fit.
    private func hasRoom() -> Bool {
        let limiter = loop.context.limiter
        guard kind != .admin, limiter.isFull else { return true }
        limiter.noteFull()
        loop.context.log.warning(
            "connections_full", ["remedy": "raise the limit of open files (LimitNOFILE=), or the setting connections"],
            about: "connections")
        return loop.makeRoom()
    }

    /// Makes room for one connection; false when that was done already.
    private func giveUpSpare() -> Bool {
        guard spare != nil else { return false }
        spare = nil
        return true
    }

    private func makeEndpoint() -> any Endpoint {
        switch kind {
        case .network(let role): NetworkEndpoint(loop: loop, role: role)
        case .admin: AdminEndpoint(loop: loop)
        }
    }
}

/// Answers the requests that come in through a listener.
protocol Endpoint: AnyObject {
    /// Begins with a request whose fields are there; returns how many bytes of its body are kept.
    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int
    /// Answers, now or when the store has.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection)
    /// Authenticates the connection by the fields of a request whose body has not come, if they prove anything.
    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection)
    /// Answers a request on a connection that ends because its peer broke a limit.
    func turnAway(_ exchange: HTTPExchange)
    /// Answers a request that has waited too long: for its own end, or for the store.
    func giveUp(_ exchange: HTTPExchange)
}

extension Endpoint {
    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection) {}
}

/// Owns a listening socket while it travels to the thread of its loop.
final class ListeningSocket: Sendable {
    let descriptor: FileDescriptor
    let kind: Listener.Kind

    init(_ descriptor: consuming FileDescriptor, _ kind: Listener.Kind) {
        self.descriptor = descriptor
        self.kind = kind
    }
}
