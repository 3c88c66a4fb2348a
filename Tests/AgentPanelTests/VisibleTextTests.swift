// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import Testing

struct VisibleTextTests {
    @Test(arguments: [
        ("Lunch\nat noon", "Lunch at noon"), ("a\r\nb", "a b"), ("a\u{2028}b\u{2029}c", "a b c"), ("", ""),
        ("\n\n\n", ""), (" \u{3000}\u{A0}\t", ""), ("\u{200B}\u{200D}\u{FEFF}\u{AD}", ""), ("\u{3164}\u{2800}", ""),
        ("\u{E000}", "\u{E000}"), (".", "."), ("👍🏽", "👍🏽"),
    ])
    func `a line has no line breaks, and is empty without visible characters`(text: String, line: String) {
        #expect(VisibleText.line(text) == line)
    }

    @Test func `text keeps its line breaks, and is empty without visible characters`() {
        #expect(VisibleText.lines("One.\nTwo.") == "One.\nTwo." && VisibleText.lines("\n \n") == "")
    }

    @Test func `a button's text has at most 40 characters`() {
        let wide = String(repeating: "W", count: 40)
        #expect(VisibleText.label(wide) == wide)
        #expect(VisibleText.label(wide + "W") == wide.dropLast() + "…")
        #expect(VisibleText.label("Say\nyes") == "Say yes")
    }
}
