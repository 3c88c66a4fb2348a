// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushServer

@Suite struct ChannelIDRandomTests {
    @Test func `random channel IDs differ, can be parsed and need no escapes in a path`() {
        let ids = (0..<1000).map { _ in ChannelID.random() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(ChannelID(text: Array(id.text.utf8).span) == id)
            #expect(id.text.count == 24 && id.text.hasSuffix("=="))
            #expect(!id.text.contains(where: "+/".contains), "\(id.text)")
        }
    }

    @Test func `every bit of a random channel ID is random`() {
        let ids = (0..<1000).map { _ in ChannelID.random() }
        #expect(ids.reduce(0) { $0 | $1.high } == .max && ids.reduce(0) { $0 | $1.low } == .max)
        #expect(ids.reduce(.max) { $0 & $1.high } == 0 && ids.reduce(.max) { $0 & $1.low } == 0)
    }
}
