// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore

@testable import PushCluster

/// A device of a simulation, which acknowledges what it receives and changes its node.
final class SimulatedDevice {
    private struct Connection {
        let node: SimulatedNode
        let instance: Int64
        let address: ReplyAddress
        /// The time at which the last notification arrives; a connection keeps the order.
        var lastArrival = 0.0
        /// The broadcasts that arrived, by unique ID.
        var broadcasts: Set<UInt64> = []
    }

    let id: DeviceID
    private unowned let simulation: Simulation
    private var connection: Connection?
    /// The notifications in the order of their first arrival, by unique ID.
    private(set) var log: [UInt64] = []
    private var positions: [UInt64: Int] = [:]
    /// The time of the last connection.
    private(set) var connectedAt = 0.0
    /// The times of the first arrivals, by unique ID.
    private(set) var arrivals: [UInt64: (at: Double, connectedAt: Double)] = [:]
    /// The number of notifications that arrived again.
    private(set) var repetitionCount = 0
    /// The number of broadcasts that arrived twice on one stream.
    private(set) var doubleCount = 0

    init(_ id: DeviceID, _ simulation: Simulation) {
        self.id = id
        self.simulation = simulation
    }

    var isConnected: Bool { connection != nil }
    /// The number of nodes that still have an earlier stream of the device.
    var strayStreamCount: Int {
        simulation.nodes.count { $0.hasStream(of: id) && $0 !== connection?.node }
    }

    func hasReceived(_ sent: SimulatedProvider.Sent) -> Bool { positions[sent.uniqueID] != nil }
    func position(of uniqueID: UInt64) -> Int? { positions[uniqueID] }

    // MARK: Connections

    /// Connects to a node; the node of an earlier connection may notice its end only later.
    func connect(_ node: SimulatedNode) {
        guard node.isAlive else {
            return simulation.after(50) { [self] in if !isConnected { connect(simulation.choice(simulation.nodes)) } }
        }
        leave()
        let address = ReplyAddress(loop: 0, slot: simulation.nextAddress(), generation: 0, exchange: 0)
        connection = Connection(node: node, instance: node.instance.rawValue, address: address)
        connectedAt = simulation.now
        let device = id
        // A handshake takes longer than the difference between the clocks of two nodes.
        simulation.after(5 + simulation.chance(upTo: 10)) { [self] in
            guard node.instance.rawValue == connection?.instance else { return }
            node.turn { [self] store in
                // A stopped node completes no handshake, so it attaches no device that has left meanwhile.
                if connection?.address == address { store.attach(device, secretHash: [], stream: address) }
            }
        }
    }

    /// Leaves; the node notices it soon, after up to four seconds, or not before the end of the run.
    func leave() {
        guard let left = connection else { return }
        connection = nil
        let kind = simulation.chance()
        let delay = kind < 0.6 ? 1 : kind < 0.9 ? simulation.chance(upTo: 4_000) : 60_000
        simulation.after(delay) {
            guard left.node.instance.rawValue == left.instance else { return }
            left.node.turn { $0.detach(stream: left.address) }
        }
    }

    /// Notices that the process of a node has ended.
    func lost(_ node: SimulatedNode) {
        guard connection?.node === node else { return }
        connection = nil
        reconnect(after: 20 + simulation.chance(upTo: 1_000))
    }

    /// Notices that its stream was ended.
    func ended(_ stream: ReplyAddress) {
        guard connection?.address == stream else { return }
        connection = nil
        reconnect(after: 50)
    }

    private func reconnect(after delay: Double) {
        simulation.after(delay) { [self] in if !isConnected { connect(simulation.choice(simulation.nodes)) } }
    }

    // MARK: Notifications

    func deliver(_ notifications: [PendingNotification], on stream: ReplyAddress, from node: SimulatedNode) {
        guard let target = connection, target.address == stream else { return }
        for pending in notifications {
            let arrival = max(
                simulation.now + simulation.choice([0.5, 2, 20]) * (0.5 + simulation.chance()),
                connection?.lastArrival ?? 0)
            connection?.lastArrival = arrival
            simulation.after(arrival - simulation.now) { [self] in receive(pending, on: stream) }
        }
    }

    private func receive(_ pending: PendingNotification, on stream: ReplyAddress) {
        // Nothing arrives through a dead connection.
        guard connection?.address == stream else { return }
        let uniqueID = pending.notification.uniqueID.low
        simulation.note(uniqueID)
        if pending.notification.channel != nil, connection?.broadcasts.insert(uniqueID).inserted == false {
            doubleCount += 1
        }
        if positions[uniqueID] == nil {
            positions[uniqueID] = log.count
            log.append(uniqueID)
            arrivals[uniqueID] = (simulation.now, connectedAt)
        } else {
            repetitionCount += 1
        }
        simulation.after(simulation.choice([0.5, 2, 20, 300])) { [self] in
            guard let current = connection, current.address == stream,
                current.node.instance.rawValue == current.instance
            else { return }
            let device = id
            current.node.turn {
                $0.acknowledge([.init(id: pending.sequence, outcome: .delivered)], by: device)
            }
        }
    }
}
