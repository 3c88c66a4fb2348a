// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushNet

@Suite struct EventLogTests {
    @Test(arguments: [
        ("plain", "plain"), ("", "\"\""), ("two words", "\"two words\""), ("a\"b", "\"a\\\"b\""),
        ("a\\b", "\"a\\\\b\""), ("a\nb", "\"a\\nb\""), ("\u{1B}[31m", "\"\\x1b[31m\""), ("\u{9B}x", "\"\\x9bx\""),
        ("a\u{202E}b", "\"a\\x202eb\""), ("a\u{2067}b\u{2029}", "\"a\\x2067b\\x2029\""), ("naïve", "\"naïve\""),
    ])
    func `a value stays on its line and contains no terminal control characters`(value: String, written: String) {
        var line = ""
        LogLine.append(value, to: &line)
        #expect(line == written)
    }

    @Test func `a line is never longer than one atomic write to a pipe`() {
        for length in [900, 1023, 1024, 1025, 10_000] {
            let value = String(repeating: "\u{202E}", count: length)
            let line = LogLine(isJournal: false).bytes(.info, "test", ["a": value, "b": value, "c": "end"])
            #expect(line.count <= LogBounds.lineByteCountMax && line.last == UInt8(ascii: "\n"))
            #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
            #expect(String(decoding: line, as: UTF8.self).hasSuffix(" truncated=yes\n"))
        }
    }

    @Test func `a value of many characters ends with an ellipsis`() {
        var line = ""
        LogLine.append(String(repeating: "x", count: 1025), to: &line)
        #expect(line == "\"" + String(repeating: "x", count: 1024) + "…\"")
    }
}
