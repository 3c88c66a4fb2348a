// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The format of log lines: `key=value` pairs after the time and the level, or after the journal's prefix.
struct LogLine: Sendable {
    /// Whether standard error is the journal, which expects a `<level>` prefix and adds the time itself.
    let isJournal: Bool

    /// Formats an event as one line of at most `LogBounds.lineByteCountMax` bytes.
    ///
    /// - Parameters:
    ///   - level: The event's level.
    ///   - event: The event's name.
    ///   - fields: The fields in the order of the line. A line that grows too long ends with `truncated=yes`.
    ///   - leftOutCount: The number of lines of this event that were omitted before.
    /// - Returns: The bytes with the newline.
    func bytes(
        _ level: EventLog.Level, _ event: StaticString, _ fields: KeyValuePairs<String, String>, leftOutCount: Int = 0
    ) -> [UInt8] {
        var line = isJournal ? "<\(level.rawValue)>" : "\(Self.timeText()) \(level.word) "
        line += "event=\(event)"
        if leftOutCount > 0 { line += " left_out=\(leftOutCount)" }
        for (key, value) in fields {
            var field = " \(key)="
            Self.append(value, to: &field)
            guard line.utf8.count + field.utf8.count < LogBounds.lineByteCountMax - Self.truncationMark.utf8.count
            else {
                line += Self.truncationMark
                break
            }
            line += field
        }
        line += "\n"
        return Array(line.utf8)
    }

    private static let truncationMark = " truncated=yes"
    /// The largest number of characters in one value; a longer value is cut and ends with an ellipsis.
    private static let valueCharacterCountMax = 1024

    /// Quotes a value with spaces, quotes or control characters, so that a line stays one line and shows the value
    /// unchanged.
    static func append(_ value: String, to line: inout String) {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        guard !isPlain || value.utf8.count > valueCharacterCountMax else {
            line += value
            return
        }
        line += "\""
        var count = 0
        for scalar in value.unicodeScalars {
            guard count < valueCharacterCountMax else {
                line += "…"
                break
            }
            count += 1
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case _ where actsOnTerminal(scalar): line += "\\x" + String(scalar.value, radix: 16)
            default: line.unicodeScalars.append(scalar)
            }
        }
        line += "\""
    }

    /// Returns whether a character is a control character, ends a line, or changes the writing direction.
    private static func actsOnTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns the current time as RFC 3339 in UTC with milliseconds.
    private static func timeText() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return "\(dateAndTime(now.tv_sec)).\(padded(now.tv_nsec / 1_000_000, 3))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Returns a UNIX time in seconds as RFC 3339 in UTC, without the zone.
    static func dateAndTime(_ seconds: time_t) -> String {
        var seconds = seconds
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        let (year, month, day) = unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        let (hour, minute, second) = unsafe (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
        let date = "\(year)-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
        return "\(date)T\(time)"
    }
}
