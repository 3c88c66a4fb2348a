// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import TestSupport
import Testing

@testable import PushStore

/// Checks two collapse IDs with the same 64-bit hash: the bytes decide, not the hash.
@Suite struct CollapseHashTests {
    private static let (first, second) = collidingPair()

    /// Returns two IDs of 24 bytes with the same hash.
    ///
    /// The second word of the second ID compensates for the change of its first word. This works for any first words,
    /// because the checksum's state depends on earlier words only through its value.
    ///
    /// - Returns: The two IDs.
    private static func collidingPair() -> ([UInt8], [UInt8]) {
        let words: (UInt64, UInt64, UInt64) = (0x4141_4141_4141_4141, 0x4242_4242_4242_4242, 0x4343_4343_4343_4343)
        let otherFirst: UInt64 = 0x5A5A_5A5A_5A5A_5A5A
        let otherSecond = words.1 ^ state(behind: words.0) ^ state(behind: otherFirst)
        return (bytes(words.0, words.1, words.2), bytes(otherFirst, otherSecond, words.2))
    }

    private static func state(behind word: UInt64) -> UInt64 {
        var checksum = Checksum()
        checksum.add(24 as UInt64)
        checksum.add(word)
        return checksum.value
    }

    private static func bytes(_ words: UInt64...) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
    }

    private func notification(_ address: DeviceTokenContents, _ text: String, _ collapseID: [UInt8]) -> Notification {
        Notification(
            address: address, apnsID: Array(text.utf8), uniqueID: UniqueID(high: 1, low: 1),
            suffixedTopic: "com.example.App", pushType: .alert, priority: 10, expiration: nil,
            collapseID: collapseID, payload: Array(text.utf8), acceptedAt: TestStore.start)
    }

    @Test func `the two IDs of these tests differ and have the same hash`() {
        #expect(Self.first != Self.second)
        #expect(CollapseHash(Self.first) == CollapseHash(Self.second))
        #expect(Self.first.count <= Limits.collapseIDByteCountMax)
    }

    /// The place of the older notification: not written yet, just written, or archived.
    enum Place: CaseIterable { case unwritten, recent, archived }

    @Test(arguments: Place.allCases)
    func `a notification does not replace one whose collapse ID only has the same hash`(place: Place) throws {
        let store = try TestStore { if place == .archived { $0.recentCountMax = 0 } }
        let (device, token) = try store.registeredDevice()
        let (a, b) = (notification(token, "a", Self.first), notification(token, "b", Self.second))
        let batches = place == .unwritten ? [[a, b]] : [[a], [b]]
        for batch in batches { #expect(try store.accept(batch).0.allSatisfy { $0 == .accepted }) }
        #expect(try store.waiting(device) == ["a", "b"])
        #expect(try store.counts().collapsed == 0)

        try store.accept(notification(token, "c", Self.second))
        #expect(try store.waiting(device) == ["a", "c"])
        #expect(try store.counts().collapsed == 1)
        try store.reopen()
        #expect(try store.waiting(device) == ["a", "c"])
    }
}
