// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushCluster

struct LeaseReportTests {
    @Test func `each end and each return of a lease is reported once, but the first lease is not`() {
        var leases = LeaseReport()
        let none = [[false, false], [true, false]].map { leases.note($0).count }
        #expect(none == [0, 0])
        let first = [[false, true], [false, true]].map { held in leases.note(held).map(\.shard) }
        #expect(first == [[0], []])
        let changes = leases.note([true, false])
        #expect(changes.map(\.shard) == [0, 1] && changes.map(\.isHeld) == [true, false])
    }
}
