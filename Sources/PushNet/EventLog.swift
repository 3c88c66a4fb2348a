// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The structured log: one line of `key=value` per event on standard error, in one write.
package struct EventLog: Sendable {
    /// How much an event matters; the raw value is syslog's.
    package enum Level: Int, Sendable, CaseIterable {
        case error = 3
        case warning = 4
        case info = 6
        case debug = 7

        /// The word in lines and in configuration.
        package var word: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .info: "info"
            case .debug: "debug"
            }
        }
    }

    private let threshold: Level
    private let isJournal: Bool

    /// Takes the least important level that is written.
    ///
    /// - Parameters:
    ///   - threshold: Events below it are dropped.
    ///   - isJournal: Standard error is the journal, which wants `<level>` in front and knows the time itself.
    package init(threshold: Level, isJournal: Bool) {
        self.threshold = threshold
        self.isJournal = isJournal
    }

    /// Something that must be mended.
    package func error(_ event: StaticString, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.error, event, fields)
    }

    /// Something that may have to be mended.
    package func warning(_ event: StaticString, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.warning, event, fields)
    }

    /// Something that an operator wants to know.
    package func info(_ event: StaticString, _ fields: KeyValuePairs<String, String> = [:]) {
        write(.info, event, fields)
    }

    /// Something that only a developer wants to know.
    package func debug(_ event: StaticString, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        guard threshold == .debug else { return }
        write(.debug, event, fields())
    }

    private func write(_ level: Level, _ event: StaticString, _ fields: KeyValuePairs<String, String>) {
        guard level.rawValue <= threshold.rawValue else { return }
        var line = isJournal ? "<\(level.rawValue)>" : "\(Self.timeText()) \(level.word) "
        line += "event=\(event)"
        for (key, value) in fields {
            line += " \(key)="
            Self.append(value, to: &line)
        }
        line += "\n"
        line.withUTF8 { bytes in
            // The log has nowhere to report its own failure to.
            _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    /// Quotes a value that holds blanks, quotes or control characters, so that a line stays one line and reads as it is.
    static func append(_ value: String, to line: inout String) {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        guard !isPlain else {
            line += value
            return
        }
        line += "\""
        for scalar in value.unicodeScalars {
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

    /// Control characters, ends of lines and what changes the direction of writing.
    private static func actsOnTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// RFC 3339 in UTC with milliseconds.
    private static func timeText() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var parts = unsafe tm()
        unsafe gmtime_r(&now.tv_sec, &parts)
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let (year, month, day) = unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        let (hour, minute, second) = unsafe (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
        let date = "\(year)-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
        return "\(date)T\(time).\(padded(now.tv_nsec / 1_000_000, 3))Z"
    }
}
