// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushCore
import TestSupport
import Testing

struct UniqueIDTests {
    @Test(arguments: ["123e4567-e89b-12d3-a456-4266554400a0", "123E4567-E89B-12D3-A456-4266554400A0"])
    func `the canonical form is read in either case and written in lower case`(text: String) throws {
        let id = try #require(UniqueID(bytes(text)))
        #expect(id == UniqueID(high: 0x123e_4567_e89b_12d3, low: 0xa456_4266_5544_00a0))
        #expect(id.text == text.lowercased())
        var output = bytes("x")
        output.append(addingCapacity: 36) { id.append(to: &$0) }
        #expect(output == bytes("x" + text.lowercased()))
        #expect(UniqueID.hasCapitals(id.upperCaseText.span) && !UniqueID.hasCapitals(id.lowerCaseText.span))
        let (small, large) = (id.lowerCaseText, id.upperCaseText)
        #expect(small.indices.map { small[$0] } == bytes(text.lowercased()))
        #expect(large.indices.map { large[$0] } == bytes(text.uppercased()))
    }

    @Test(arguments: [
        "", "123e4567-e89b-12d3-a456-4266554400a", "123e4567-e89b-12d3-a456-4266554400a00",
        "123e4567e89b12d3a4564266554400a0",
        "123e4567-e89b-12d3-a456-4266554400ag", "123e45678e89b-12d3-a456-4266554400a0",
        "123e4567-e89b-12d3-a456_4266554400a0",
        "123e456-7e89b-12d3-a456-4266554400a0", "{23e4567-e89b-12d3-a456-4266554400a}", "not-a-uuid",
        "123e4567-e89b-12d3-a456-4266554400é", "------------------------------------",
    ])
    func `any other form is refused`(text: String) {
        #expect(UniqueID(bytes(text)) == nil)
    }

    @Test(arguments: seeds)
    func `a random ID has version 4 and the variant of the specification`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (high, low) = (generator.next(), generator.next())
        let id = UniqueID.version4(high: high, low: low)
        let text = id.text
        #expect(UUID(uuidString: text)?.uuidString == text.uppercased())
        #expect(text.dropFirst(14).first == "4")
        #expect("89ab".contains(text.dropFirst(19).first ?? " "))
        #expect(UniqueID(bytes(text)) == id)
        // All other bits equal the given random bits.
        #expect((id.high ^ high) & 0xFFFF_FFFF_FFFF_0FFF == 0)
        #expect((id.low ^ low) & 0x3FFF_FFFF_FFFF_FFFF == 0)
    }
}
