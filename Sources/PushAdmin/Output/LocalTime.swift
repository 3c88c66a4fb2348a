// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc

/// Moments as people read them.
package enum LocalTime {
    /// 9999-12-31, beyond which a year has five digits and a number says more.
    private static let unixSecondsMax: Int64 = 253_402_300_799

    /// For example `2026-11-21 20:15:09+0100`, in this machine's time zone.
    package static func text(unixSeconds: Int64) -> String {
        var seconds = time_t(clamping: unixSeconds)
        var parts = unsafe tm()
        let isKnown = unsafe localtime_r(&seconds, &parts) != nil
        return text(unixSeconds: unixSeconds, offsetSeconds: isKnown ? unsafe parts.tm_gmtoff : 0)
    }

    /// The same in the zone that is so many seconds east of Greenwich.
    package static func text(unixSeconds: Int64, offsetSeconds: Int) -> String {
        guard (0...unixSecondsMax).contains(unixSeconds), let zone = TimeZone(secondsFromGMT: offsetSeconds) else {
            return "\(unixSeconds) s after 1970"
        }
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone)
        return Date(timeIntervalSince1970: Double(unixSeconds)).formatted(style)
    }

    /// Now, in whole seconds since 1970.
    package static var nowUnixSeconds: Int64 { Int64(time(nil)) }
}
