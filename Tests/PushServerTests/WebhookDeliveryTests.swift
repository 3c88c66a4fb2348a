// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushServer

@Suite struct WebhookDeliveryTests {
    @Test func `a delivery asks for events, sends them and continues after those accepted`() {
        var delivery = WebhookDelivery(position: 10, now: .zero)
        #expect(delivery.begin(now: .zero) == 10)
        #expect(delivery.due == nil && delivery.begin(now: .seconds(9)) == nil)
        delivery.found(eventCount: 2, next: 50, isMore: true, now: .zero)
        #expect(delivery.due == nil && delivery.position == 10)
        #expect(delivery.taken(now: .seconds(2)) == 50)
        #expect(delivery.due == .seconds(2), "there is more")
        #expect(delivery.begin(now: .seconds(2)) == 50)
        delivery.found(eventCount: 1, next: 60, isMore: false, now: .seconds(2))
        #expect(delivery.taken(now: .seconds(3)) == 60)
        #expect(delivery.due == .seconds(4), "at most once a second")
        #expect(delivery.begin(now: .milliseconds(3999)) == nil)
    }

    @Test func `a delivery without events continues after the searched range`() {
        var delivery = WebhookDelivery(position: 10, now: .zero)
        _ = delivery.begin(now: .zero)
        delivery.found(eventCount: 0, next: 90, isMore: false, now: .seconds(1))
        #expect(delivery.position == 90 && delivery.due == .seconds(2))
    }

    @Test func `a refusal keeps the position, and the pause doubles up to five minutes`() {
        var delivery = WebhookDelivery(position: 10, now: .zero)
        var pauses: [Duration] = []
        for _ in 0..<20 {
            guard let due = delivery.due else { break }
            #expect(delivery.begin(now: due) == 10)
            delivery.found(eventCount: 1, next: 20, isMore: false, now: due)
            delivery.failed(now: due, fraction: 1)
            pauses.append((delivery.due ?? .zero) - due)
        }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.count == 20 && pauses.dropFirst(9).allSatisfy { $0 == .seconds(300) })
        guard let due = delivery.due else { return }
        _ = delivery.begin(now: due)
        delivery.found(eventCount: 1, next: 20, isMore: false, now: due)
        #expect(delivery.taken(now: due) == 20 && delivery.failureCount == 0)
    }

    @Test func `a delivery is behind from its first event until the back-end has the last one`() {
        var delivery = WebhookDelivery(position: 10, now: .seconds(1))
        #expect(delivery.behindSince == nil)
        _ = delivery.begin(now: .seconds(1))
        delivery.found(eventCount: 0, next: 20, isMore: false, now: .seconds(2))
        #expect(delivery.behindSince == nil)
        _ = delivery.begin(now: .seconds(3))
        delivery.found(eventCount: 1, next: 30, isMore: true, now: .seconds(3))
        #expect(delivery.behindSince == .seconds(2))
        delivery.failed(now: .seconds(4), fraction: 1)
        #expect(delivery.behindSince == .seconds(2), "a refusal changes nothing")
        _ = delivery.begin(now: .seconds(5))
        delivery.found(eventCount: 1, next: 30, isMore: true, now: .seconds(5))
        _ = delivery.taken(now: .seconds(6))
        #expect(delivery.behindSince == .seconds(2), "there is more")
        _ = delivery.begin(now: .seconds(6))
        delivery.found(eventCount: 1, next: 40, isMore: false, now: .seconds(6))
        _ = delivery.taken(now: .seconds(7))
        #expect(delivery.behindSince == nil)
    }

    @Test func `a part of the pause is random`() {
        var delivery = WebhookDelivery(position: 0, now: .zero)
        _ = delivery.begin(now: .zero)
        delivery.failed(now: .seconds(10), fraction: 0.5)
        #expect(delivery.due == .milliseconds(10_500))
    }

    @Test func `an answer to an abandoned request changes nothing`() {
        var delivery = WebhookDelivery(position: 5, now: .seconds(7))
        delivery.found(eventCount: 3, next: 9, isMore: false, now: .zero)
        #expect(delivery.taken(now: .zero) == 5 && delivery.due == .seconds(7))
    }
}
