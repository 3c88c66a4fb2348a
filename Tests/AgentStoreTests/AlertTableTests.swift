// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
import PushCore
import TestSupport
import Testing

@Suite struct AlertTableTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    private func location(_ number: UInt32, _ owner: String = "a") -> AlertLocation {
        AlertLocation(owner: owner, number: number)
    }

    /// Opens the database with entries 1 to 4, of which the last is viewed.
    private func filled() throws -> AgentDatabase {
        let database = try file.open()
        for number in 1...4 as ClosedRange<Int64> {
            _ = try database.inbox.append(
                InboxEntry(
                    uniqueID: "\(number)", sequence: number, appID: "a", topic: "a", apnsID: "",
                    receivedAt: .unixEpoch, acceptedAt: .unixEpoch, payload: [],
                    state: number == 4 ? .viewed : .shown))
        }
        return database
    }

    @Test func `an alert's location on the screen survives a restart until the alert ends`() throws {
        do {
            let database = try filled()
            for number in 1...4 {
                try database.alerts.save(location(UInt32(number)), of: EntryID(rawValue: Int64(number)))
            }
            try database.alerts.save(location(5), of: 99)
            try database.alerts.remove([2])
        }
        let alerts = try file.open().alerts.unanswered()
        #expect(alerts.map(\.entry) == [1, 3])
        #expect(alerts.map(\.location) == [location(1), location(3)])
    }

    @Test func `an alert number that is saved for another entry no longer belongs to the first`() throws {
        let database = try filled()
        try database.alerts.save(location(.max), of: 1)
        try database.alerts.save(location(.max), of: 2)
        #expect(try database.alerts.unanswered().map(\.entry) == [2])
        #expect(try database.alerts.unanswered().first?.location == location(.max))
    }

    @Test func `the same number at another server is a different alert`() throws {
        let database = try filled()
        try database.alerts.save(location(1), of: 1)
        try database.alerts.save(location(1, "b"), of: 2)
        #expect(try database.alerts.unanswered().map(\.location) == [location(1), location(1, "b")])
    }
}
