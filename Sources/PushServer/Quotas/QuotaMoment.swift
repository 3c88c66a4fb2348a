// SPDX-License-Identifier: Apache-2.0

/// Now: rates go by the clock that never jumps, days by the one on the wall.
struct QuotaMoment {
    let monotonicNanoseconds: Int64
    let unixSeconds: Int64

    /// Days of UTC since 1970.
    var day: Int64 { unixSeconds / Self.daySeconds }

    /// Until the day ends, at least 1.
    var secondsLeft: Int64 { Self.daySeconds - max(0, unixSeconds) % Self.daySeconds }

    /// Whole seconds after which a wait is over, at least 1.
    static func seconds(_ nanoseconds: Int64) -> Int64 { max(1, (nanoseconds + 999_999_999) / 1_000_000_000) }

    private static let daySeconds: Int64 = 86_400
}

/// How much of a limit is left: what the sender reads in `ratelimit-` fields.
struct QuotaState: Equatable {
    /// How much there is when nothing is used.
    var limit: Int64
    var remaining: Int64
    /// Until all of it is free again.
    var resetSeconds: Int64
}
