// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The current time, by the monotonic clock for rates and by the wall clock for days.
struct QuotaMoment {
    let monotonic: MonotonicTime
    let time: Timestamp

    /// The UTC day, counted since 1970.
    var day: Int64 { time.unixSeconds / Self.daySeconds }

    /// The seconds until the day ends, at least 1.
    var secondsLeft: Int64 { Self.daySeconds - max(0, time.unixSeconds) % Self.daySeconds }

    /// Returns a wait in whole seconds, rounded up, at least 1.
    static func seconds(_ nanoseconds: Int64) -> Int64 { max(1, (nanoseconds + 999_999_999) / 1_000_000_000) }

    private static let daySeconds: Int64 = 86_400
}

/// The state of a limit, as the sender reads it in `ratelimit-` fields.
struct QuotaState: Equatable {
    /// The amount when nothing is used.
    var limit: Int64
    var remaining: Int64
    /// The seconds until nothing is used again.
    var resetSeconds: Int64
}
