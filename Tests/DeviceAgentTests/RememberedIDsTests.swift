// SPDX-License-Identifier: Apache-2.0

import PushSQL
@testable import AgentStore
@testable import DeviceAgent
import PushCore
import PushSQLite
import TestSupport
import Testing

@Suite struct RememberedIDsTests {
    @Test(.tags(.slow)) func `a repetition is recognized after 19,999 other notifications, not after 20,000`() throws {
        let file = try DatabaseFile()
        let database = try file.open()
        try database.apps.save(Sample.app)
        let arrivals: [Arrival] = [.notification(Sample.notification(7))]
        _ = try Receiver(database).receive(arrivals, now: .unixEpoch)
        try database.transaction { () throws(SQLError) in
            for number in 1..<20_000 {
                _ = try database.inbox.markSeen(uniqueID: "later \(number)")
            }
        }
        #expect(try Receiver(database).receive(arrivals, now: .unixEpoch) == ReceptionResult(repeatedCount: 1))
        #expect(try database.inbox.newest(countMax: 10).count == 1)
        #expect(try database.inbox.markSeen(uniqueID: "the newest"))
        let repeated = try Receiver(database).receive(arrivals, now: .unixEpoch)
        #expect(repeated == ReceptionResult(repeatedCount: 1), "its entry is still in the inbox")
        _ = try database.inbox.removeAll(appID: nil)
        #expect(try Receiver(database).receive(arrivals, now: .unixEpoch).newCount == 1, "the bound holds")
    }
}
