// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushNet

@Suite struct EventLogTests {
    @Test(arguments: [
        ("plain", "plain"), ("", "\"\""), ("two words", "\"two words\""), ("a\"b", "\"a\\\"b\""),
        ("a\\b", "\"a\\\\b\""), ("a\nb", "\"a\\nb\""), ("\u{1B}[31m", "\"\\x1b[31m\""), ("\u{9B}x", "\"\\x9bx\""),
        ("a\u{202E}b", "\"a\\x202eb\""), ("a\u{2067}b\u{2029}", "\"a\\x2067b\\x2029\""), ("naïve", "\"naïve\""),
    ])
    func `a value stays on its line and acts on no terminal`(value: String, written: String) {
        var line = ""
        EventLog.append(value, to: &line)
        #expect(line == written)
    }
}
