// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The connections of a loop whose handshakes can continue.
///
/// The first step of a handshake usually signs and derives something, which takes as long as a hundred requests. So
/// each turn of the loop performs only the steps that fit into its `HandshakeBudget`. Within a queue the source
/// networks take turns, so a flood from one of them delays others by at most one step.
///
/// ```
/// begun ──▶ new ──▶ late        a queue is served when the queues before it are empty
///           (a network over its rate of handshakes waits in `late`)
/// ```
///
/// The next step of a handshake goes before the first step of another one; otherwise all of them could time out. The
/// number of handshakes in flight is bounded in total and for each network; the others wait.
struct HandshakeQueue<Connection: HandshakeTaker> {
    private var begun = NetworkQueue()
    private var new = NetworkQueue()
    private var late = NetworkQueue()
    /// The connections that were queued since the last turn.
    private var fresh: [Connection] = []
    private let slotCountMax: Int
    private let slotsPerNetworkCountMax: Int
    /// The networks of the handshakes in flight, by ticket.
    private var slots: [UInt64: SourceAddress] = [:]
    private var slotCounts: [SourceAddress: Int] = [:]
    /// The tickets in the order of the first steps, also of slots that are free again.
    private var tickets = FIFOQueue<(ticket: UInt64, beganAt: MonotonicTime)>()
    private var lastTicket: UInt64 = 0
    /// The networks that use all of their slots.
    private var full: Set<SourceAddress> = []

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - slotCountMax: The maximum number of handshakes in flight.
    ///   - slotsPerNetworkCountMax: The maximum for one network.
    init(
        slotCountMax: Int = Limits.handshakeCountMax,
        slotsPerNetworkCountMax: Int = Limits.handshakesPerNetworkCountMax
    ) {
        self.slotCountMax = slotCountMax
        self.slotsPerNetworkCountMax = slotsPerNetworkCountMax
    }

    var isEmpty: Bool { begun.isEmpty && new.isEmpty && late.isEmpty }

    /// Appends a connection to its queue, unless it is in a queue already.
    mutating func append(_ connection: Connection) {
        guard !connection.handshakeTurn.isQueued else { return }
        connection.handshakeTurn.isQueued = true
        fresh.append(connection)
        if connection.hasBegunHandshake {
            begun.append(connection)
        } else if connection.handshakeTurn.isOverRate {
            late.append(connection)
        } else {
            new.append(connection)
        }
    }

    /// Removes the connection whose handshake continues next.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The connection; nil if none waits, or if all need a slot and none is free.
    mutating func takeNext(now: MonotonicTime) -> Connection? {
        if let connection = begun.takeOne(except: []) {
            connection.handshakeTurn.isQueued = false
            return connection
        }
        freeLateSlots(now: now)
        while slots.count < slotCountMax {
            guard let connection = new.takeOne(except: full) ?? late.takeOne(except: full) else { return nil }
            // A connection that was closed while it waited needs no slot.
            guard connection.handshakeTurn.isQueued else { continue }
            connection.handshakeTurn.isQueued = false
            occupySlot(connection, now: now)
            return connection
        }
        return nil
    }

    /// Ends a turn: the connections that still wait stop watching their sockets until their handshakes continue.
    mutating func endTurn() {
        for connection in fresh where connection.handshakeTurn.isQueued { connection.pauseHandshake() }
        fresh.removeAll(keepingCapacity: true)
    }

    /// Frees the slots of handshakes that take long, whatever their peers send meanwhile.
    private mutating func freeLateSlots(now: MonotonicTime) {
        while let first = tickets.first,
            slots[first.ticket] == nil || now > first.beganAt.advanced(by: Limits.handshakeSlotDuration)
        {
            freeSlot(first.ticket)
            _ = tickets.popFirst()
        }
    }

    private mutating func occupySlot(_ connection: Connection, now: MonotonicTime) {
        lastTicket += 1
        connection.handshakeTurn.ticket = lastTicket
        tickets.append((lastTicket, now))
        slots[lastTicket] = connection.network
        let count = slotCounts[connection.network, default: 0] + 1
        slotCounts[connection.network] = count
        if count >= slotsPerNetworkCountMax { full.insert(connection.network) }
    }

    /// Frees the slot of a connection, if it still has one, because its handshake ended.
    mutating func freeSlot(of connection: Connection) { freeSlot(connection.handshakeTurn.ticket) }

    private mutating func freeSlot(_ ticket: UInt64) {
        guard let network = slots.removeValue(forKey: ticket) else { return }
        let count = slotCounts[network, default: 1] - 1
        slotCounts[network] = count > 0 ? count : nil
        if count < slotsPerNetworkCountMax { full.remove(network) }
    }

    /// The connections in the order in which they became ready, with the networks taking turns.
    private struct NetworkQueue {
        private var waiting: [SourceAddress: Queue] = [:]
        private var networks = FIFOQueue<SourceAddress>()

        private typealias Queue = FIFOQueue<Connection>

        var isEmpty: Bool { waiting.isEmpty }

        mutating func append(_ connection: Connection) {
            if waiting[connection.network] == nil { networks.append(connection.network) }
            waiting[connection.network, default: Queue()].append(connection)
        }

        /// Removes the first connection of the network whose turn it is.
        mutating func takeOne(except excluded: Set<SourceAddress>) -> Connection? {
            for _ in 0..<networks.count {
                guard let network = networks.popFirst() else { return nil }
                guard !excluded.contains(network) else {
                    networks.append(network)
                    continue
                }
                let connection = waiting[network]?.popFirst()
                if waiting[network]?.count ?? 0 == 0 { waiting[network] = nil } else { networks.append(network) }
                return connection
            }
            return nil
        }
    }
}

/// The place of a handshake among the others of its loop.
struct HandshakeTurn {
    /// Whether the connection is in the loop's handshake queue.
    var isQueued = false
    /// The number of the slot among the handshakes in flight; 0 before the first step.
    var ticket: UInt64 = 0
    /// Whether the network starts too many handshakes, so that others go first.
    var isOverRate = false
}

/// A connection as the handshake queue sees it.
protocol HandshakeTaker: AnyObject {
    /// The source network.
    var network: SourceAddress { get }
    /// The place of its handshake among the others.
    var handshakeTurn: HandshakeTurn { get set }
    /// Whether the first step of the handshake is done.
    var hasBegunHandshake: Bool { get }
    /// Stops watching the socket while the handshake waits for its turn.
    func pauseHandshake()
}
