// SPDX-License-Identifier: Apache-2.0

/// The connections of a loop by slot, with a generation that distinguishes the successive owners of a slot.
struct ConnectionTable {
    private var connections: [ServerConnection?] = []
    private var generations: [UInt32] = []
    /// Whether the connection in each slot has no running deadline.
    ///
    /// The flag is stored here so that a tick touches none of thousands of idle connections.
    private var isExcludedFromTicks: [Bool] = []
    private var free: [UInt32] = []
    private(set) var count = 0

    /// Reserves a free slot.
    mutating func reserve() -> (slot: UInt32, generation: UInt32) {
        count += 1
        if let slot = free.popLast() { return (slot, generations[Int(slot)]) }
        connections.append(nil)
        generations.append(1)
        isExcludedFromTicks.append(false)
        return (UInt32(connections.count - 1), 1)
    }

    mutating func fill(_ slot: UInt32, with connection: ServerConnection) { connections[Int(slot)] = connection }

    /// Frees a slot, so that its old address no longer finds a connection.
    mutating func release(_ slot: UInt32) {
        guard connections[Int(slot)] != nil else { return }
        connections[Int(slot)] = nil
        isExcludedFromTicks[Int(slot)] = false
        generations[Int(slot)] &+= 1
        free.append(slot)
        count -= 1
    }

    subscript(slot slot: UInt32, generation generation: UInt32) -> ServerConnection? {
        guard slot < connections.count, generations[Int(slot)] == generation else { return nil }
        return connections[Int(slot)]
    }

    /// The current connection in a slot.
    subscript(slot slot: UInt32) -> ServerConnection? { slot < connections.count ? connections[Int(slot)] : nil }

    /// Records whether a connection needs no ticks.
    mutating func setExcluded(_ slot: UInt32, _ isExcluded: Bool) { isExcludedFromTicks[Int(slot)] = isExcluded }

    /// Calls the body, which may close connections, for each connection that needs ticks.
    func forEachTicked(_ body: (ServerConnection) -> Void) {
        for slot in connections.indices where !isExcludedFromTicks[slot] {
            if let connection = connections[slot] { body(connection) }
        }
    }

    /// Calls the body, which may close connections, for each connection.
    func forEach(_ body: (ServerConnection) -> Void) {
        for case let connection? in connections { body(connection) }
    }
}
