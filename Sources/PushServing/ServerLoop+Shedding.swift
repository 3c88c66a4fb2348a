// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Closes connections to free capacity for others.
extension ServerLoop {
    func admit(_ connection: ServerConnection) {
        let admission = context.limiter.admit(connection.network, now: events.now)
        connection.handshakeTurn.isOverRate = admission.isOverRate
        switch admission.excess {
        case .none: break
        case .network: _ = shedStranger(of: connection.network, idle: Limits.strangerGrace)
        case .strangers: _ = shedStranger(idle: Limits.strangerGrace)
        }
        strangers.append(connection.slot)
    }

    /// Records a stranger's step towards a credential; does nothing for other connections.
    func strangerProgressed(_ connection: ServerConnection) {
        guard connection.isStranger, strangers.contains(connection.slot) else { return }
        connection.progressedAt = events.now
        strangers.append(connection.slot)
    }

    /// Counts a connection that proved a credential.
    func authenticated(_ connection: ServerConnection) {
        strangers.remove(connection.slot)
        context.limiter.authenticated(as: connection.principal.connectionKind)
    }

    /// Closes the stranger that has kept the loop waiting longest.
    ///
    /// - Parameters:
    ///   - network: The network to search; nil for any.
    ///   - idle: The minimum time that the stranger must have kept the loop waiting.
    /// - Returns: Whether a stranger was closed.
    func shedStranger(of network: SourceAddress? = nil, idle: Duration = .zero) -> Bool {
        var next = strangers.first
        for _ in 0..<Limits.strangersPerSearchCountMax {
            guard let slot = next, let connection = connections[slot: slot] else { return false }
            guard hasPassed(idle, since: connection.progressedAt) else { return false }
            next = strangers.slot(after: slot)
            guard connection.keepsLoopWaiting else {
                // The connection waits for this loop. Moving it to the end keeps the search from visiting it
                // repeatedly.
                strangerProgressed(connection)
                continue
            }
            guard network == nil || connection.network == network else { continue }
            shed(connection, reason: "idle")
            return true
        }
        return false
    }

    /// Closes connections to make space for new ones, on this loop or, with a delay, on other loops.
    ///
    /// - Returns: Whether a connection of this loop was closed.
    func makeRoom() -> Bool {
        guard !shedLocally() else { return true }
        for (place, mailbox) in context.dataLoops.enumerated() where place != Int(index) { mailbox.post(.makeRoom) }
        return false
    }

    /// Closes an idle stranger, connections of the largest principal, or the stranger without progress for longest.
    ///
    /// A principal that holds more connections than all strangers together loses its own first, so that its flood
    /// does not close newcomers before they can prove a credential. If it already lost some within
    /// `Limits.principalSearchInterval`, newcomers wait for the next search.
    ///
    /// - Returns: Whether any connection was closed.
    func shedLocally() -> Bool {
        if shedStranger(idle: Limits.strangerGrace) { return true }
        if hasPassed(Limits.principalSearchInterval, since: principalSearch.beganAt) {
            principalSearch = PrincipalSearch(beganAt: events.now, hasShed: shedLargestPrincipal())
            if principalSearch.hasShed { return true }
        }
        return !principalSearch.hasShed && shedStranger()
    }

    /// Closes the youngest connections of the principal with most of this loop's connections, down to its share, if
    /// it has more of them than all strangers.
    ///
    /// Connections whose requests wait for the store stay open. The search visits every connection, so it runs at most
    /// once in `Limits.principalSearchInterval`.
    ///
    /// - Returns: Whether any connection was closed.
    private func shedLargestPrincipal() -> Bool {
        var counts: [Principal: Int] = [:]
        connections.forEach {
            if $0.listener.kind.isNetwork, !$0.isStranger { counts[$0.principal, default: 0] += 1 }
        }
        let share = max(Limits.connectionsPerPrincipalCountMin, connections.count / Limits.connectionShares)
        guard let largest = counts.max(by: { $0.value < $1.value }), largest.value > max(share, strangers.count) else {
            return false
        }
        var members: [ServerConnection] = []
        connections.forEach { if $0.principal == largest.key, $0.keepsLoopWaiting { members.append($0) } }
        members.sort { $0.beganAt > $1.beganAt }
        for connection in members.prefix(largest.value - share) { shed(connection, reason: "crowd") }
        return !members.isEmpty
    }

    /// Closes the oldest connections for monitoring if there are too many.
    func shedMonitors() {
        var monitors: [ServerConnection] = []
        connections.forEach { if $0.principal == .monitor { monitors.append($0) } }
        guard monitors.count > Limits.metricsConnectionCountMax else { return }
        monitors.sort { $0.beganAt < $1.beganAt }
        for connection in monitors.dropLast(Limits.metricsConnectionCountMax) { connection.makeRoom() }
    }

    /// The last search for a principal with too many connections.
    struct PrincipalSearch {
        var beganAt = MonotonicTime.past
        /// Whether it closed connections.
        var hasShed = false
    }

    // MARK: Memory

    /// Notes that a connection holds more memory than before.
    func memoryGrew() {
        guard memory.strangersExcess > 0 else { return }
        mustShedMemory = true
        needEndOfTurn()
    }

    /// Closes strangers that hold memory until the others hold an eighth less than the loop's limit.
    ///
    /// The order is by weight: the bytes of the connection, times the bytes of its network, times its age. So new
    /// connections, and networks with few bytes, usually come last. A provider whose open request has a valid
    /// credential is authenticated instead.
    func shedMemory() {
        mustShedMemory = false
        guard memory.strangersExcess > 0 else { return }
        var holders: [(connection: ServerConnection, weight: Double)] = []
        connections.forEach { connection in
            guard connection.isStranger, connection.memory.reportedByteCount > 0 else { return }
            holders.append((connection, connection.memory.weight * secondsOfWaiting(for: connection)))
        }
        holders.sort { $0.weight > $1.weight }
        for (connection, _) in holders {
            guard memory.strangersExcess > -memory.strangersSlack else { return }
            if !connection.recognizePeer() { shed(connection, reason: "memory") }
        }
    }

    /// Returns the age of a stranger's connection from its first handshake step; zero if it waits for the loop or the
    /// store.
    ///
    /// Requests do not count as progress here, because a stranger can send any number of them.
    private func secondsOfWaiting(for connection: ServerConnection) -> Double {
        guard connection.keepsLoopWaiting else { return 0 }
        return Double(max(0, events.now.nanoseconds(since: connection.beganAt))) / 1e9
    }

    private func shed(_ connection: ServerConnection, reason: String) {
        context.limiter.noteShed()
        context.log.shed(connection, reason: reason)
        connection.makeRoom()
    }
}
