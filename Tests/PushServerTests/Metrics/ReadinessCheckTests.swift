// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushServer

@Suite struct ReadinessCheckTests {
    private static let now = Timestamp(unixSeconds: 1_795_000_000)
    private static let good = ReadinessCheck(
        storeTurnNanoseconds: 0, certificateExpiry: Timestamp(unixSeconds: 1_795_000_001), now: now)

    @Test func `a server with space, a quick store and a valid certificate is ready`() {
        #expect(Self.good.problems == [])
        var check = Self.good
        check.storeTurnNanoseconds = 9_999_999_999
        #expect(check.problems == [])
    }

    @Test func `each problem is a sentence`() {
        var check = Self.good
        check.diskFullSince = Timestamp(unixSeconds: 1_794_999_000)
        check.storeTurnNanoseconds = 10_000_000_000
        check.certificateExpiry = Self.now
        #expect(check.problems.count == 3)
        #expect(check.problems[0].hasPrefix("The disk has been full since 2026-"))
        #expect(check.problems[1] == "The store has not answered for 10 seconds. Check the disk.")
        #expect(check.problems[2].hasPrefix("The server's certificate expired at 2026-"))
        check.isDraining = true
        check.isSuspended = true
        #expect(check.problems.count == 5)
        (check.isDraining, check.isSuspended) = (false, false)
        check.certificateExpiry = nil
        #expect(check.problems[2] == "The server's certificate cannot be read.")
    }
}
