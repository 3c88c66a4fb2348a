// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
internal import Testing

struct TimestampTests {
    private static let start = Timestamp(unixSeconds: 1_800_000_000)

    @Test(arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)] as [(Int64, Int64)])
    func `seconds are rounded down, also before 1970`(milliseconds: Int64, seconds: Int64) {
        let time = Timestamp(unixMilliseconds: milliseconds)
        #expect(time.unixSeconds == seconds)
        #expect(time.roundedDownToSeconds == Timestamp(unixMilliseconds: seconds * 1000))
    }

    @Test func `seconds out of range become the earliest or the latest time`() {
        let secondsMax = Int64.max / 1000
        for seconds in [secondsMax, secondsMax + 1, .max] {
            #expect(Timestamp(unixSeconds: seconds) == .distantFuture)
            #expect(Timestamp(unixSeconds: -seconds) == .distantPast)
        }
        #expect(Timestamp(unixSeconds: .min) == .distantPast)
        #expect(Timestamp(unixSeconds: secondsMax - 1).unixMilliseconds == (secondsMax - 1) * 1000)
    }

    @Test(arguments: [Int64.min, -9_223_372_036_854_775, -1, 0, 1, 9_223_372_036_854_774, .max])
    func `seconds survive a second conversion`(seconds: Int64) {
        let time = Timestamp(unixSeconds: seconds)
        #expect(Timestamp(unixSeconds: time.unixSeconds) == time && time.roundedDownToSeconds == time)
    }

    @Test func `a time is advanced in both directions, and stays in the range`() {
        #expect(Self.start.advanced(bySeconds: 2) == Timestamp(unixMilliseconds: 1_800_000_002_000))
        #expect(Self.start.advanced(bySeconds: -2) == Timestamp(unixMilliseconds: 1_799_999_998_000))
        #expect(Self.start.advanced(byMilliseconds: -1) == Timestamp(unixMilliseconds: 1_799_999_999_999))
        #expect(Self.start.advanced(bySeconds: .max) == .distantFuture)
        #expect(Self.start.advanced(bySeconds: .min) == .distantPast)
        #expect(Timestamp.distantFuture.advanced(byMilliseconds: 1) == .distantFuture)
        #expect(Timestamp.distantPast.advanced(byMilliseconds: -1) == .distantPast)
    }

    @Test func `differences are signed, and stay in the range`() {
        let later = Self.start.advanced(byMilliseconds: 1999)
        #expect(later.milliseconds(since: Self.start) == 1999 && Self.start.milliseconds(since: later) == -1999)
        #expect(later.seconds(since: Self.start) == 1 && Self.start.seconds(since: later) == -1)
        #expect(Timestamp.distantFuture.milliseconds(since: .distantPast) == .max)
        #expect(Timestamp.distantPast.milliseconds(since: .distantFuture) == .min)
        #expect(Timestamp.distantFuture.seconds(since: .distantPast) == 18_446_744_073_709_551)
    }

    @Test func `times are ordered`() {
        #expect(Timestamp.distantPast < .unixEpoch && .unixEpoch < Self.start && Self.start < .distantFuture)
    }

    @Test func `now agrees with the kernel's seconds`() {
        let before = Int64(time(nil))
        let now = Timestamp.now
        let after = Int64(time(nil))
        // time(2) reads a clock that may lag by a tick.
        #expect(now.unixSeconds >= before && now.unixSeconds <= after + 1)
    }
}
