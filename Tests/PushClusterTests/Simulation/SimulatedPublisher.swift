// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore

@testable import PushCluster

/// A publisher of a simulation, which waits for each answer before it sends the next broadcast to its channel.
final class SimulatedPublisher {
    struct Sent {
        let uniqueID: UInt64
        let isStored: Bool
        let sentAt: Double
        var acceptedAt: Double?
    }

    private static let broadcastCount = 8
    /// The time until a publisher gives up, which exceeds the time until all nodes have heard of a broadcast.
    private static let patienceMilliseconds = 5_000.0

    let channel: ChannelNumber
    private unowned let simulation: Simulation
    private(set) var sent: [Sent] = []
    private var current: UInt32?

    init(_ channel: ChannelNumber, _ simulation: Simulation) {
        self.channel = channel
        self.simulation = simulation
    }

    var accepted: [Sent] { sent.filter { $0.acceptedAt != nil } }

    func sendNext() {
        guard sent.count < Self.broadcastCount, simulation.now < Simulation.faultyMilliseconds else { return }
        let running = simulation.nodes.filter(\.isRunning)
        let node = simulation.choice(running.isEmpty ? simulation.nodes : running)
        let slot = simulation.nextAddress()
        let isStored = simulation.chance() < 0.7
        sent.append(Sent(uniqueID: UInt64(slot), isStored: isStored, sentAt: simulation.now))
        current = slot
        let now = simulation.clock.wallTime(skewMilliseconds: 0)
        let notification = Notification(
            address: DeviceTokenContents(device: DeviceID(rawValue: 0), topic: TopicID(rawValue: 1), generation: 0),
            apnsID: [], uniqueID: UniqueID(high: 0, low: UInt64(slot)), suffixedTopic: "t", pushType: .liveactivity,
            priority: 10, expiration: isStored ? now.advanced(bySeconds: 3_600) : .unixEpoch, collapseID: nil,
            payload: [], acceptedAt: now, channel: ChannelID(high: 1, low: UInt64(channel.rawValue)))
        let answer = ReplyAddress(loop: 0, slot: slot, generation: 0, exchange: 0)
        node.publish(notification, to: channel, isStored: isStored, answer: answer)
        simulation.after(Self.patienceMilliseconds) { [self] in if current == slot { proceed() } }
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
