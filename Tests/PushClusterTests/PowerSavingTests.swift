// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore
import Testing

@testable import PushCluster

/// Devices that save power, with the stream on one node and requests at another one.
struct PowerSavingTests {
    private let simulation = Simulation(seed: 1, .init(faults: []))

    private var device: SimulatedDevice { simulation.devices[0] }

    /// Connects the device to the first node.
    init() {
        for node in simulation.nodes { node.start() }
        simulation.run(until: 2_000)
        device.connect(simulation.nodes[0])
        simulation.run(until: 3_000)
    }

    /// Tells the second node that the device starts or stops saving power.
    private func setSaving(_ isSaving: Bool) {
        let device = device.id
        simulation.nodes[1].turn { $0.apply(changed: [], saving: [device: isSaving], in: ChangeGroup()) }
        simulation.run(until: simulation.now + 500)
    }

    /// Sends a notification at a node, and waits for a second.
    private func send(_ number: UInt64, priority: UInt8, atNode node: Int = 1) {
        let notification = Notification(
            address: DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 1), generation: 1), apnsID: [],
            uniqueID: UniqueID(high: 0, low: number), suffixedTopic: "t", pushType: .alert, priority: priority,
            expiration: nil, collapseID: nil, payload: [],
            acceptedAt: simulation.clock.wallTime(skewMilliseconds: 0))
        let answer = ReplyAddress(loop: 0, slot: simulation.nextAddress(), generation: 0, exchange: 0)
        simulation.nodes[node].turn { $0.accept(notification, answer: answer) }
        simulation.run(until: simulation.now + 1_000)
    }

    @Test func `the node with the stream holds back what is not urgent, after another node was told`() {
        send(1, priority: 5)
        #expect(device.log == [1])
        setSaving(true)
        for (number, node) in [(2, 0), (3, 1), (4, 2)] { send(UInt64(number), priority: 5, atNode: node) }
        #expect(device.log == [1])
        // An urgent notification releases all of them, in order.
        send(5, priority: 10, atNode: 2)
        #expect(device.log == [1, 2, 3, 4, 5])
    }

    @Test func `the node with the stream sends what it held back when the device no longer saves power`() {
        setSaving(true)
        send(1, priority: 5)
        #expect(device.log.isEmpty)
        setSaving(false)
        #expect(device.log == [1])
        send(2, priority: 5)
        #expect(device.log == [1, 2])
    }

    @Test func `what is held back is sent after a minute`() {
        setSaving(true)
        send(1, priority: 5)
        simulation.run(until: simulation.now + 50_000)
        #expect(device.log.isEmpty)
        simulation.run(until: simulation.now + 12_000)
        #expect(device.log == [1])
    }
}
