// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServer

@Suite struct ProviderTokenMemoryTests {
    /// Wraps a memory in a class, because `#expect` does not call mutating methods.
    private final class Connection {
        private var memory = ProviderTokenMemory()
        private let updateCountMax: Int

        init(updateCountMax: Int) { self.updateCountMax = updateCountMax }

        /// Offers a verified token, and returns whether it is accepted.
        func takes(_ number: Int, text: String? = nil, at seconds: Int64 = 0) -> Bool {
            let entry = ProviderTokenMemory.Entry(
                compact: Self.compact(number, text), keyID: "KEY0000001",
                issuedAt: Timestamp(unixSeconds: Int64(number)))
            return memory.remember(entry, updateCountMax: updateCountMax, now: .past.advanced(bySeconds: seconds))
        }

        /// Returns whether a token needs no further verification.
        func knows(_ number: Int) -> Bool { memory.recall(Self.compact(number, nil).span) != nil }

        private static func compact(_ number: Int, _ text: String?) -> [UInt8] {
            Array((text ?? "token \(number)").utf8)
        }
    }

    @Test(arguments: [1, 5, 7])
    func `the first token is free, and then a limited number is accepted in twenty minutes`(countMax: Int) {
        let connection = Connection(updateCountMax: countMax)
        for number in 0...countMax { #expect(connection.takes(number, at: 1), "\(number)") }
        #expect(!connection.takes(100, at: 1))
        #expect(!connection.takes(101, at: 1200))
        #expect(!connection.knows(100))
        #expect(connection.takes(102, at: 1201))
    }

    @Test func `one new token every twenty minutes is always accepted`() {
        let connection = Connection(updateCountMax: 1)
        for number in 0..<100 {
            #expect(connection.takes(number, at: Int64(number) * Limits.providerTokenUpdateSeconds), "\(number)")
        }
    }

    @Test func `tokens that are used alternately are remembered and are not updates`() {
        let connection = Connection(updateCountMax: 3)
        for number in 0..<4 { #expect(connection.takes(number)) }
        for round in 0..<100 { #expect(connection.knows(round % 4), "round \(round)") }
    }

    @Test func `the same claims with another signature are not an update`() {
        let connection = Connection(updateCountMax: 1)
        for text in ["a", "b", "c", "d"] { #expect(connection.takes(1, text: text), "\(text)") }
        #expect(connection.takes(2))
        #expect(!connection.takes(3))
    }

    @Test func `the least recently used token is evicted first`() {
        let connection = Connection(updateCountMax: 100)
        let count = Limits.rememberedProviderTokenCountMax
        for number in 0..<count { #expect(connection.takes(number)) }
        #expect(connection.knows(0))
        #expect(connection.takes(count))
        #expect(connection.knows(0) && !connection.knows(1) && connection.knows(2))
    }
}
