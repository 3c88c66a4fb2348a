// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushTLS
import Testing

@testable import PushServer

struct TokenKeyRingTests {
    private let old = [UInt8](repeating: 1, count: 64)
    private let new = [UInt8](repeating: 2, count: 64)
    private let contents = InlineArray<16, UInt8>(repeating: 7)

    @Test(arguments: Environment.allCases)
    func `ciphers use changed keys for their next token`(environment: Environment) throws {
        let ring = TokenKeyRing([old])
        let ciphers = try TokenCiphers(ring)
        let first = ciphers.cipher(for: environment).seal(contents)
        ring.replace([old, new])
        #expect(ciphers.cipher(for: environment).seal(contents).span[0] == first.span[0])
        let second = try TokenCiphers(TokenKeyRing([new])).cipher(for: environment).seal(contents)
        #expect(ciphers.cipher(for: environment).open(second) != nil)
        ring.replace([new, old])
        let third = ciphers.cipher(for: environment).seal(contents)
        #expect((0..<32).allSatisfy { third[$0] == second[$0] })
        #expect(ciphers.cipher(for: environment).open(first) != nil)
        #expect(ciphers.cipher(for: environment.other).open(first) == nil)
    }

    @Test func `a ring without a cluster is complete`() {
        let ring = TokenKeyRing([old])
        #expect(ring.isComplete(at: .now))
        ring.checkFreshness { $0 < MonotonicTime(nanoseconds: 5) }
        #expect(ring.isComplete(at: MonotonicTime(nanoseconds: 4)) && !ring.isComplete(at: .now))
    }

    @Test(arguments: ["", "\n", "ab\n", String(repeating: "0", count: 127), String(repeating: "g", count: 128)])
    func `a file with anything but keys has none`(text: String) {
        #expect(TokenKeyRing.keys(in: Array(text.utf8)) == nil)
        let key = String(repeating: "01", count: 64)
        #expect(TokenKeyRing.keys(in: Array((key + "\n" + key).utf8)) == [old, old])
    }
}
