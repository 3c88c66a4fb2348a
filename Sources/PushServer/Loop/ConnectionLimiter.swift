// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Counts connections by source network and by kind, for all loops.
///
/// Loops call it when a connection is accepted, proves a credential, or closes; requests never touch it. It decides
/// nothing but whether there are too many: the loop then closes the stranger that has been idle longest.
final class ConnectionLimiter: Sendable {
    /// The largest numbers of connections.
    struct Caps: Equatable {
        /// In all; above it the process may run out of descriptors.
        var all: Int
        /// Without a proven credential.
        var strangers: Int
        /// The largest number of connections of one source network, with or without a credential.
        var perNetwork: Int

        /// Derives what is not configured from the number of descriptors that may be open.
        ///
        /// A sixteenth of the descriptors, at least `Limits.reservedDescriptorCount`, stays free for the store, the
        /// admin socket and other files.
        init(
            descriptorCount: Int, all: Int? = nil, strangers: Int? = nil, perNetwork: Int? = nil
        ) {
            let reserved = max(Limits.reservedDescriptorCount, descriptorCount / 16)
            self.all = all ?? max(Limits.connectionCountMin, descriptorCount - reserved)
            self.strangers = strangers ?? max(1, self.all / 4 * 3)
            self.perNetwork = perNetwork ?? max(1, self.all / 2)
        }
    }

    /// A kind of connection that `posthorn status` counts separately.
    enum Kind { case stranger, device, provider }

    /// Which bound a new connection exceeds.
    enum Excess { case none, network, strangers }

    /// The limiter's decision about a new connection.
    struct Admission {
        var excess: Excess
        /// Its network begins more handshakes than `Limits.handshakeRate` allows: others go first.
        var isOverRate: Bool
    }

    /// The numbers of a moment.
    struct Counts {
        var strangers = 0
        var devices = 0
        var providers = 0
        /// Strangers that were closed to make room.
        var shed = 0
        /// Connections that came when a bound was reached.
        var overLimit = 0

        var all: Int { strangers + devices + providers }
    }

    private struct Network {
        var count = 0
        /// When the bucket of handshakes is full again, monotonic nanoseconds.
        var fullAt: Int64 = 0

        /// Counts a connection; says whether its handshake exceeds the rate.
        mutating func admit(_ bucket: TokenBucket, now: Int64) -> Bool {
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

    let caps: Caps
    private let bucket = TokenBucket(of: Limits.handshakeBurst, refilledBy: Limits.handshakeRate)
    private let state = Lock(State())

    init(_ caps: Caps) { self.caps = caps }

    var counts: Counts { state.withLock { $0.counts } }

    /// Whether no further connection fits without closing another.
    var isFull: Bool { state.withLock { $0.counts.all >= caps.all } }

    /// Counts a new connection, which is a stranger's.
    ///
    /// - Parameters:
    ///   - network: The source network.
    ///   - now: Monotonic nanoseconds.
    /// - Returns: Whether it is one too many.
    func admit(_ network: SourceAddress, now: UInt64) -> Admission {
        let now = Int64(clamping: now)
        return state.withLock { state in
            let isOverRate = state.networks[network, default: Network()].admit(bucket, now: now)
            state.counts.strangers += 1
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

    /// Notes that a stranger proved a credential.
    func authenticated(as kind: Kind) {
        state.withLock { state in
            state.counts[.stranger] -= 1
            state.counts[kind] += 1
        }
    }

    /// Notes that a connection is over.
    func closed(_ network: SourceAddress, _ kind: Kind) {
        state.withLock { state in
            state.counts[kind] -= 1
            state.networks[network]?.count -= 1
        }
    }

    /// Notes that a stranger was closed to make room.
    func noteShed() { state.withLock { $0.counts.shed += 1 } }

    /// Notes that connections wait because none fits.
    func noteFull() { state.withLock { $0.counts.overLimit += 1 } }

    /// Removes networks without connections whose bucket is full, each time the table has doubled.
    private func sweep(_ state: inout State, now: Int64) {
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
            }
        }
        set {
            switch kind {
            case .stranger: strangers = newValue
            case .device: devices = newValue
            case .provider: providers = newValue
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
        case .provider, .administrator: .provider
        }
    }
}
