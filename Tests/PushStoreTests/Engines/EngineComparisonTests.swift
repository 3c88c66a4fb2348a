// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite(.needsPostgres) struct EngineComparisonTests {
    @Test(.tags(.slow), arguments: 0..<Patience.caseCount)
    func `both engines give the same answers to random requests`(seed: Int) async throws {
        let (sqlite, postgres) = (try TestStore(), try PostgresTestStore(try await PostgresFixture()))
        var random = RandomRequests(seed: UInt64(seed))
        var tokens: [DeviceTokenContents] = []
        for step in 0..<150 {
            let (pause, place) = (random.nextPause(), "seed \(seed), step \(step)")
            sqlite.clock.now += pause
            postgres.clock.now += pause
            if step % 8 == 7 {
                let broadcast = random.nextBroadcast(TopicID(rawValue: UInt32(step % 3 + 1)), "broadcast \(step)")
                let (expected, found) = (try sqlite.publish(broadcast), try postgres.publish(broadcast))
                try #require(found == expected, "\(place): \(broadcast)")
            } else if step % 8 == 3, let token = random.nextToken(of: tokens) {
                let notification = Notification.to(token, "\(step)", accepted: sqlite.clock.now)
                let (expected, found) = (try sqlite.accept(notification), try postgres.accept(notification))
                try #require(found == expected, "\(place): \(token)")
            } else {
                let request = random.next()
                let (expected, found) = (try sqlite.perform(request), try postgres.perform(request))
                try #require(found.text == expected.text, "\(place): \(request)")
                if case .success(.registered(let token)) = expected { tokens.append(token) }
            }
        }
        try compareEnds(sqlite, postgres, "seed \(seed)")
    }

    private func compareEnds(_ sqlite: TestStore, _ postgres: PostgresTestStore, _ place: Comment) throws {
        let (expected, found) = (try sqlite.counts(), try postgres.counts())
        #expect(found.apps == expected.apps && found.devices == expected.devices, place)
        #expect(found.registrations == expected.registrations && found.pending == expected.pending, place)
        #expect(found.accepted == expected.accepted && found.dropped == expected.dropped, place)
        #expect(found.unregistered == expected.unregistered && found.collapsed == expected.collapsed, place)
        for device in (1..<6).map(TestDevice.init(number:)) {
            let request = StoreRequest.administer(device.id, .describe)
            #expect(try postgres.perform(request).text == sqlite.perform(request).text, place)
            #expect(try postgres.waiting(device) == sqlite.waiting(device), place)
        }
    }
}
