// SPDX-License-Identifier: Apache-2.0

import AgentStore
import Testing

struct EntryIDTests {
    @Test func `entry IDs are ordered by their numbers`() {
        #expect([EntryID(rawValue: 10), 9, 1].sorted().map(\.rawValue) == [1, 9, 10])
        #expect(EntryID(rawValue: 3) == 3 && Set([EntryID(rawValue: 3), 3]).count == 1)
    }

    @Test(arguments: [1, -1, Int64.max, Int64.min])
    func `the number 0 stands for all entries, and every other number for one`(number: Int64) {
        #expect(EntryID(nilIfZero: 0) == nil)
        #expect(EntryID(nilIfZero: number)?.rawValue == number)
    }

    @Test func `an entry ID describes itself by its number`() {
        #expect("posthorn inbox show \(EntryID(rawValue: 12))" == "posthorn inbox show 12")
    }
}
