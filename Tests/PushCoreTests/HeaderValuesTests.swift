// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct HeaderValuesTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("1790000000", 1_790_000_000), ("1790000000000", 1_790_000_000_000),
            ("1000000000000000", 1_000_000_000_000_000), ("1000000000000001", nil),
            ("1790000000000000", nil), ("-1", nil), ("1.5", nil), ("soon", nil), ("", nil), (" 1", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int64?)])
    func `an expiration is whole seconds up to the limit`(text: String, seconds: Int64?) {
        #expect(HeaderValues.expiration(bytes(text))?.unixSeconds == seconds)
    }

    @Test(
        arguments: [
            ("10", 10), ("5", 5), ("1", 1), ("0", nil), ("7", nil), ("9", nil), ("11", nil), ("10.0", nil),
            ("010", nil),
            ("05", nil), (" 5", nil), ("", nil), ("high", nil), ("1O", nil),
        ] as [(String, UInt8?)])
    func `a priority is 10, 5 or 1`(text: String, priority: UInt8?) {
        #expect(HeaderValues.priority(bytes(text)) == priority)
    }

    @Test(arguments: [(0, false), (1, true), (63, true), (64, true), (65, false)])
    func `a collapse ID has at most 64 bytes, of any value`(count: Int, isCollapseID: Bool) {
        #expect(HeaderValues.isCollapseID([UInt8](repeating: 0xFF, count: count)) == isCollapseID)
    }

    @Test func `the limit of a collapse ID is in bytes, not in characters`() {
        #expect(HeaderValues.isCollapseID(bytes(String(repeating: "é", count: 32))))
        #expect(!HeaderValues.isCollapseID(bytes(String(repeating: "é", count: 33))))
    }
}
