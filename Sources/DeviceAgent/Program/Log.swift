// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The agent's log: one line of `key=value` for each event, on standard error; never text from a payload, nor a secret.
enum Log {
    /// The longest value that is written, in bytes.
    private static let valueByteCountMax = 300

    /// Writes an event.
    static func event(_ name: StaticString, _ facts: [(StaticString, String)] = []) {
        // One write for a line, so that lines of several processes do not mix. A log that is full or closed is no reason
        // to stop.
        let line = Array(Self.line(name, facts).utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The line of an event, with its end.
    static func line(_ name: StaticString, _ facts: [(StaticString, String)]) -> String {
        var line = "event=\(name)"
        for (key, value) in facts { line += " \(key)=\(quoted(value))" }
        return line + "\n"
    }

    /// Quotes what has blanks, quotes or nothing; what is not printable becomes a question mark.
    private static func quoted(_ value: String) -> String {
        let bytes = value.utf8.prefix(valueByteCountMax).map { $0 < 32 || $0 == 127 ? UInt8(ascii: "?") : $0 }
        let isPlain =
            !bytes.isEmpty && bytes.allSatisfy { $0 != 32 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
        guard !isPlain else { return String(decoding: bytes, as: UTF8.self) }
        let escaped = bytes.flatMap { byte in
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        return "\"\(String(decoding: escaped, as: UTF8.self))\""
    }
}
