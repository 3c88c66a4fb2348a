// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore

@testable import PushCluster

/// A provider of a simulation, which waits for each answer before it sends the next notification.
final class SimulatedProvider {
    struct Sent {
        let device: SimulatedDevice
        let uniqueID: UInt64
        let collapseID: UInt8?
        let isNowOrNever: Bool
        /// The number of the notification among those of all providers.
        let number: Int
        let sentAt: Double
        var acceptedAt: Double?
    }

    private static let notificationCount = 8

    let device: SimulatedDevice
    private let index: Int
    private unowned let simulation: Simulation
    private(set) var sent: [Sent] = []
    private var current: UInt32?

    init(_ index: Int, _ device: SimulatedDevice, _ simulation: Simulation) {
        self.index = index
        self.device = device
        self.simulation = simulation
    }

    var accepted: [Sent] { sent.filter { $0.acceptedAt != nil } }

    func sendNext() {
        guard sent.count < Self.notificationCount else { return }
        let running = simulation.nodes.filter(\.isRunning)
        let node = simulation.choice(running.isEmpty ? simulation.nodes : running)
        let slot = simulation.nextAddress()
        let collapseID: UInt8? = simulation.chance() < 0.2 ? 65 + UInt8(simulation.chance(upTo: 2)) : nil
        let isNowOrNever = simulation.chance() < 0.2
        sent.append(
            Sent(
                device: device, uniqueID: UInt64(slot), collapseID: collapseID, isNowOrNever: isNowOrNever,
                number: Int(slot), sentAt: simulation.now))
        current = slot
        let notification = Notification(
            address: DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 1), generation: 1),
            apnsID: [], uniqueID: UniqueID(high: 0, low: UInt64(slot)), suffixedTopic: "t", pushType: .alert,
            priority: 10, expiration: isNowOrNever ? .unixEpoch : nil, collapseID: collapseID.map { [$0] }, payload: [],
            acceptedAt: simulation.clock.wallTime(skewMilliseconds: 0))
        let answer = ReplyAddress(loop: 0, slot: slot, generation: 0, exchange: 0)
        node.turn { $0.accept(notification, answer: answer) }
        simulation.after(2_000) { [self] in
            guard current == slot else { return }
            proceed()
        }
    }

    func answered(_ slot: UInt32, isAccepted: Bool) {
        guard current == slot else { return }
        if isAccepted { sent[sent.count - 1].acceptedAt = simulation.now }
        proceed()
    }

    private func proceed() {
        current = nil
        simulation.after(simulation.chance(upTo: 300)) { [self] in sendNext() }
    }
}
