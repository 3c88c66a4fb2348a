// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import Testing

struct TextsTests {
    @Test(arguments: [
        ("%1 of %2", "3 of 4"), ("%2 before %1", "4 before 3"), ("%d items", "3 items"), ("100 %", "100 %"),
        ("%3 and %", "%3 and %"), ("", ""), ("%1%1", "33"),
    ])
    func `values replace their placeholders`(text: String, filled: String) {
        #expect(Texts.fill(text, "3", "4") == filled)
    }

    @Test func `a text without translation is unchanged, however long`() {
        #expect(Texts.text("Lunch") == "Lunch")
        let long = String(repeating: "Lunch ", count: 100)
        #expect(Texts.text(long) == long)
    }

    @Test(arguments: [(0, "0 items"), (1, "1 item"), (2, "2 items")])
    func `a count selects singular or plural`(count: Int, text: String) {
        #expect(Texts.text("%d item", "%d items", count: count) == text)
    }
}
