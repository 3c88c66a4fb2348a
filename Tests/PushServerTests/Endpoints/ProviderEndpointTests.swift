// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushStore
import Synchronization
import TestSupport
import Testing

@testable import PushServer

/// Checks the provider API without a process, a network or a database.
///
/// ConformanceTests runs the same cases against `posthornd`.
@Suite struct ProviderEndpointTests {
    @Test func `each case gets the documented answer, and only an accepted one reaches the store`() throws {
        let harness = try EndpointHarness()
        for one in EndpointCase.notifications {
            let wanted = try #require(ConformanceAnswers.all[one.id], "\(one.id) is not on the page")
            let answer = try harness.connect().ask(one.header(harness.objects), body: one.body)
            #expect(answer.status == wanted.status && answer.reason == wanted.reason, "\(one.id): \(answer)")
            let accepted = harness.store.takeNotifications()
            #expect(accepted.map(\.payload) == (wanted.status == 200 ? [one.body] : []), "\(one.id)")
        }
    }

    @Test func `each case of a channel or a broadcast gets the documented answer`() throws {
        let harness = try EndpointHarness()
        for one in EndpointCase.channels + EndpointCase.broadcasts {
            let wanted = try #require(ConformanceAnswers.all[one.id], "\(one.id) is not on the page")
            let client = try harness.connect(forChannels: one.isForChannels)
            let answer = try client.ask(one.header(harness.objects), body: one.body)
            #expect(answer.status == wanted.status && answer.reason == wanted.reason, "\(one.id): \(answer)")
            #expect(harness.store.takeBatches().isEmpty == (wanted.status != 200), "\(one.id)")
        }
    }

    @Test func `every case about one plain request is here`() {
        // TLS, other forms of a signature, several requests, and answers that the store gives.
        let others: Set = [
            "A-19", "A-20", "A-21", "A-22", "A-23", "A-25", "A-29", "A-30", "A-31", "M-02", "M-17", "M-24", "M-25",
            "X-03", "X-08", "X-17",
        ]
        let groups = ["P-", "A-", "H-", "B-", "D-", "M-", "X-"]
        let wanted = ConformanceAnswers.all.keys.filter { id in groups.contains { id.hasPrefix($0) } }
        let present = EndpointCase.notifications + EndpointCase.channels + EndpointCase.broadcasts
        #expect(Set(present.map(\.id)).symmetricDifference(Set(wanted).subtracting(others)) == [])
    }

    @Test func `the notification for the store has the values of the request`() throws {
        let harness = try EndpointHarness()
        let id = "123E4567-E89B-12D3-A456-426655440000"
        let request = EndpointCase(
            id: "",
            fields: [
                "apns-id": id, "apns-expiration": "4000000000", "apns-priority": "5", "apns-collapse-id": "score",
            ])
        let answer = try harness.connect().ask(request.header(harness.objects), body: request.body)
        #expect(answer.status == 200 && answer.fields["apns-id"] == id)
        let notification = try #require(harness.store.takeNotifications().first)
        #expect(notification.suffixedTopic == ProviderObjects.topic && notification.address.device.rawValue == 1)
        #expect(notification.priority == 5 && notification.expiration == Timestamp(unixSeconds: 4_000_000_000))
        #expect(notification.collapseID == Array("score".utf8))
    }

    @Test func `requests that arrive together reach the store together and in order`() throws {
        let harness = try EndpointHarness()
        let client = try harness.connect()
        let bodies = (0..<20).map { Array(#"{"aps":{"badge":\#($0)}}"#.utf8) }
        let header = try EndpointCase(id: "").header(harness.objects)
        let streams = bodies.map { client.open(header, body: $0) }
        #expect(try streams.allSatisfy { try client.answer(on: $0).status == 200 })
        let batches = harness.store.takeBatches()
        #expect(batches.map(\.count) == [20])
        let payloads = batches.joined().map { command in
            if case .accept(let notification, _) = command { notification.payload } else { [UInt8]() }
        }
        #expect(payloads == bodies)
    }

    @Test func `a device token that has ended is refused with the time of its end`() throws {
        let harness = try EndpointHarness()
        harness.store.answer { command in
            guard case .accept(_, let answer) = command else { return nil }
            return .refused(
                .unregistered, unregisteredAt: Timestamp(unixMilliseconds: 1_700_000_000_123), answer: answer)
        }
        let answer = try harness.connect().ask(EndpointCase(id: "").header(harness.objects), body: EndpointCase.alert)
        #expect(answer.status == 410 && answer.reason == "Unregistered")
        #expect(answer.members["timestamp"] as? Int == 1_700_000_000_123)
    }

    @Test func `the store's late answer to a request that was reset goes nowhere`() throws {
        let harness = try EndpointHarness()
        let pending = Mutex<[ReplyAddress]>([])
        harness.store.answer { command in
            if case .accept(_, let answer) = command { pending.withLock { $0.append(answer) } }
            return nil
        }
        let client = try harness.connect()
        let header = try EndpointCase(id: "").header(harness.objects)
        let dropped = client.open(header, body: EndpointCase.alert)
        let kept = client.open(header, body: EndpointCase.alert)
        harness.turn()
        client.reset(dropped)
        harness.turn()
        let addresses = pending.withLock { $0 }
        #expect(addresses.count == 2)
        harness.reply(addresses.map { .accepted(answer: $0) })
        #expect(try client.answer(on: kept).status == 200)
        #expect(throws: EndpointClient.Unanswered.self) { try client.answer(on: dropped) }
    }

    @Test func `an app that was removed is unknown from the next directory on`() throws {
        let harness = try EndpointHarness()
        let client = try harness.connect()
        let header = try EndpointCase(id: "").header(harness.objects)
        #expect(try client.ask(header, body: EndpointCase.alert).status == 200)
        harness.reply([.directory(Directory(version: 2, topics: [:], keys: harness.objects.directory.keys))])
        harness.turn()
        let answer = try client.ask(header, body: EndpointCase.alert)
        #expect(answer.status == 400 && answer.reason == "TopicDisallowed")
    }
}
