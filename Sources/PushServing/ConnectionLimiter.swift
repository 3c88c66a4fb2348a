// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Counts connections by source network and by kind, for all loops.
///
/// Loops call it when a connection is accepted, proves a credential, or closes; requests never touch it. It decides
/// only whether there are too many connections. The loop then closes the stranger that has been idle longest.
package final class ConnectionLimiter: Sendable {
    /// The maximum numbers of connections.
    package struct Caps: Equatable, Sendable {
        /// The total maximum, above which the process may run out of descriptors.
        package var all: Int
        /// The maximum of connections without a proven credential.
        package var strangers: Int
        /// The maximum per source network, with or without a credential.
        package var perNetwork: Int

        /// Derives caps that are not configured from the descriptors and the memory of the process.
        ///
        /// A sixteenth of the descriptors, at least `Limits.reservedDescriptorCount`, stays free for the store, the
        /// admin socket and other files. An idle connection takes about `Limits.connectionByteCount`. So all of them
        /// take about as much as the memory budget, which is half of what the process may use.
        ///
        /// - Parameters:
        ///   - descriptorCount: The maximum number of open descriptors.
        ///   - memoryByteCount: The memory budget in bytes.
        ///   - all: The configured total maximum, if any.
        ///   - strangers: The configured maximum of strangers, if any.
        ///   - perNetwork: The configured maximum per network, if any.
        package init(
            descriptorCount: Int, memoryByteCount: Int, all: Int? = nil, strangers: Int? = nil, perNetwork: Int? = nil
        ) {
            let reserved = max(Limits.reservedDescriptorCount, descriptorCount / 16)
            let derived = min(descriptorCount - reserved, memoryByteCount / Limits.connectionByteCount)
            self.all = all ?? max(Limits.connectionCountMin, derived)
            // A stranger can make its connection take four times what an idle one takes.
            let affordable = memoryByteCount / Limits.strangerByteCount
            self.strangers = strangers ?? max(1, min(self.all / 4 * 3, affordable))
            self.perNetwork = perNetwork ?? max(1, self.all / 2)
        }
    }

    /// A kind of connection that `posthorn status` counts separately.
    package enum Kind { case stranger, device, provider, node }

    /// The bound that a new connection exceeds.
    enum Excess { case none, network, strangers }

    /// The limiter's decision about a new connection.
    struct Admission {
        var excess: Excess
        /// Whether the network starts more handshakes than `Limits.handshakeRate` allows, so that others go first.
        var isOverRate: Bool
    }

    /// A snapshot of the connection counts.
    package struct Counts: Sendable {
        package var strangers = 0
        package var devices = 0
        package var providers = 0
        /// The number of links of other nodes.
        package var nodes = 0
        /// The number of connections that were accepted.
        package var opened = 0
        /// The number of connections that were closed to free capacity for others.
        package var shed = 0
        /// The number of connections that arrived when a bound was reached.
        package var overLimit = 0

        var all: Int { strangers + devices + providers + nodes }
    }

    private struct Network {
        var count = 0
        /// The time when the bucket of handshakes is full again.
        var fullAt = MonotonicTime.past

        /// Counts a connection and returns whether its handshake exceeds the rate.
        mutating func admit(_ bucket: TokenBucket, now: MonotonicTime) -> Bool {
            count += 1
            switch bucket.take(fullAt: fullAt, now: now) {
            case .taken(let next):
                fullAt = next
                return false
            case .refused: return true
            }
        }
    }

    private struct State {
        var networks: [SourceAddress: Network] = [:]
        /// The number of networks at which those without connections are removed.
        var sweepCount = 1024
        var counts = Counts()
    }

    package let caps: Caps
    private let bucket = TokenBucket(of: Limits.handshakeBurst, refilledBy: Limits.handshakeRate)
    private let state = Lock(State())

    package init(_ caps: Caps) { self.caps = caps }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Whether no further connection fits unless another one is closed.
    var isFull: Bool { state.withLock { $0.counts.all >= caps.all } }

    /// Counts a new connection as a stranger's.
    ///
    /// - Parameters:
    ///   - network: The source network.
    ///   - now: The current time.
    /// - Returns: The bound that the connection exceeds, if any.
    func admit(_ network: SourceAddress, now: MonotonicTime) -> Admission {
        state.withLock { state in
            let isOverRate = state.networks[network, default: Network()].admit(bucket, now: now)
            state.counts.strangers += 1
            state.counts.opened += 1
            var excess = Excess.none
            if state.networks[network]?.count ?? 0 > caps.perNetwork {
                excess = .network
            } else if state.counts.strangers > caps.strangers {
                excess = .strangers
            }
            if excess != .none { state.counts.overLimit += 1 }
            sweep(&state, now: now)
            return Admission(excess: excess, isOverRate: isOverRate)
        }
    }

    /// Counts a stranger that proved a credential.
    func authenticated(as kind: Kind) {
        state.withLock { state in
            state.counts[.stranger] -= 1
            state.counts[kind] += 1
        }
    }

    /// Notes that a connection closed.
    func closed(_ network: SourceAddress, _ kind: Kind) {
        state.withLock { state in
            state.counts[kind] -= 1
            state.networks[network]?.count -= 1
        }
    }

    /// Notes that a connection was closed to free capacity for others.
    func noteShed() { state.withLock { $0.counts.shed += 1 } }

    /// Notes that connections wait because none fits.
    func noteFull() { state.withLock { $0.counts.overLimit += 1 } }

    /// Removes networks without connections whose bucket is full, each time the table has doubled.
    private func sweep(_ state: inout State, now: MonotonicTime) {
        guard state.networks.count >= state.sweepCount else { return }
        state.networks = state.networks.filter { $1.count > 0 || $1.fullAt > now }
        state.sweepCount = max(1024, state.networks.count * 2)
    }
}

extension ConnectionLimiter.Counts {
    fileprivate subscript(kind: ConnectionLimiter.Kind) -> Int {
        get {
            switch kind {
            case .stranger: strangers
            case .device: devices
            case .provider: providers
            case .node: nodes
            }
        }
        set {
            switch kind {
            case .stranger: strangers = newValue
            case .device: devices = newValue
            case .provider: providers = newValue
            case .node: nodes = newValue
            }
        }
    }
}

extension Principal {
    /// The kind under which the principal's connections are counted.
    var connectionKind: ConnectionLimiter.Kind {
        switch self {
        case .stranger: .stranger
        case .device: .device
        case .node: .node
        case .provider, .administrator, .monitor: .provider
        }
    }
}
