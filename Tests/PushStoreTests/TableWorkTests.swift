// SPDX-License-Identifier: Apache-2.0

import PushSQL
@testable import PushSQLite
@testable import PushStore
import PushCore
import TestSupport
import Testing

/// Checks that the work for one device does not grow with the number of other devices.
@Suite struct TableWorkTests {
    /// Returns the operations that SQLite needs to acknowledge a broadcast, on a channel with some subscribers.
    private func operationsOfAcknowledgement(subscriberCount: Int) throws -> Int {
        let connection = try Connection(inMemory: "test")
        try Schema.migrations.apply(to: connection)
        try connection.execute(
            """
            INSERT INTO topics(id, topic, name, team, added_at_ms) VALUES (1, 'com.example.App', '', '', 0);
            INSERT INTO channels VALUES (1, x'01', 1, 'production', 1, 0);
            INSERT INTO broadcasts VALUES (7, 1, 0, 0, 0, 0, x'', '', NULL, 0, x'', 0);
            """)
        let addDevice = try connection.prepare(
            "INSERT INTO devices(id, name, platform, enrolled_at_ms) VALUES (?, '', '', 0)")
        let tables = try StoreTables(connection)
        for number in 1...subscriberCount {
            addDevice.bind(Int64(number), at: 1)
            try addDevice.run()
            try tables.subscriptions.add(
                DeviceID(rawValue: UInt64(number)), TopicID(rawValue: 1), ChannelNumber(rawValue: 1), since: 0)
        }
        let before = connection.operationCount
        let device = DeviceID(rawValue: 1)
        #expect(try tables.subscriptions.isWaiting(7, for: device))
        #expect(try tables.subscriptions.acknowledge(7, by: device))
        #expect(try !tables.subscriptions.isWaiting(7, for: device))
        return connection.operationCount - before
    }

    @Test func `acknowledging a broadcast takes as many operations with a thousand subscribers as with one`() throws {
        let few = try operationsOfAcknowledgement(subscriberCount: 1)
        #expect(try operationsOfAcknowledgement(subscriberCount: 1000) == few)
    }
}
