// SPDX-License-Identifier: Apache-2.0

@testable import PanelToolkit
import Testing

struct ShownTextTests {
    @Test(arguments: [
        ("esc \u{1B}[31mred\u{7} bell", "esc [31mred bell"), ("a\u{200B}b\u{FEFF}c\u{AD}d\u{2060}e", "abcde"),
        ("\u{202E}txt", "txt"), ("One.\nTwo.", "One.\nTwo."), ("👩\u{200D}👩", "👩\u{200D}👩"),
        ("\u{5D0}\u{200F}!", "\u{5D0}\u{200F}!"),
    ])
    func `a shown text has no control characters and no invisible ones without effect`(text: String, shown: String) {
        #expect(ShownText.clean(text).unicodeScalars.elementsEqual(shown.unicodeScalars))
    }
}
