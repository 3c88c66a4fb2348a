// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore
import Testing

/// Tests the end of a loop while other loops still have connections.
struct LoopEndTests {
    /// The control loop has work while an administrator waits for an answer.
    @Test(arguments: [false, true])
    func `a loop without connections passes on what another loop sent to it`(hasOtherDataLoop: Bool) throws {
        let harness = try EndpointHarness(hasOtherLoop: hasOtherDataLoop)
        harness.shutDown()
        harness.turn()
        let notification = Notification(
            address: DeviceTokenContents(device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 1), generation: 1),
            apnsID: [], uniqueID: UniqueID(high: 1, low: 1), suffixedTopic: "org.example.App", pushType: .alert,
            priority: 10, expiration: nil, collapseID: nil, payload: Array("{}".utf8), acceptedAt: .unixEpoch)
        let answer = ReplyAddress(loop: 1, slot: 1, generation: 1, exchange: 1)
        harness.reply([.host(.offered(notification, answer: answer))])
        harness.turn()
        #expect(harness.store.takeNotifications().map(\.uniqueID) == [notification.uniqueID])
    }

    @Test func `a connection that was opened just before the shutdown gets the answer to its first request`() throws {
        let harness = try EndpointHarness()
        let client = try harness.connect()
        let early = try harness.connect()
        harness.turn()
        harness.shutDown()
        for _ in 0..<3 { harness.turn() }
        for client in [client, early] {
            let answer = try client.ask(
                [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/")], body: [])
            #expect(answer.status == 405)
        }
    }
}
