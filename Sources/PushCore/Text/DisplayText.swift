// SPDX-License-Identifier: Apache-2.0

/// Makes a provider's text safe for the medium that shows it.
///
/// All of it works on Unicode scalars: `Character` joins a carriage return and a line feed, and hides what stands
/// behind combining marks.
package enum DisplayText {
    /// The most scalars of a title.
    package static let titleScalarCountMax = 256
    /// The most scalars of a body.
    package static let bodyScalarCountMax = 2000
    /// The most scalars of what people take for one character: no line breaks within it, however wide or high it gets.
    package static let characterScalarCountMax = 16

    /// Text for a widget that shows it as it is.
    ///
    /// Line feeds stay, other ends of lines become one, a tab becomes a blank. Other control characters, overrides and isolates of the writing
    /// direction and noncharacters are left out.
    /// - Parameters:
    ///   - text: Any text.
    ///   - scalarCountMax: The length at which it is cut, an ellipsis included.
    /// - Returns: The text that may be shown.
    package static func plain(_ text: String, scalarCountMax: Int = bodyScalarCountMax) -> String {
        var output = String.UnicodeScalarView()
        appendPlain(text.unicodeScalars, scalarCountMax: scalarCountMax) { output.append($0) }
        return String(output)
    }

    /// The same text for a notification server that reads markup: nothing in it is markup.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - scalarCountMax: The length at which it is cut, before characters are escaped.
    /// - Returns: The text with `& < >` escaped, and not more: GNOME Shell shows `&#39;` as these five characters.
    package static func markup(_ text: String, scalarCountMax: Int = bodyScalarCountMax) -> String {
        var output = ""
        appendPlain(text.unicodeScalars, scalarCountMax: scalarCountMax) { scalar in
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }

    /// The same text for a terminal, on which nothing in it acts: control sequences are left out whole, tabs stay.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - scalarCountMax: The length at which it is cut.
    /// - Returns: The text that may be printed.
    package static func terminal(_ text: String, scalarCountMax: Int = bodyScalarCountMax) -> String {
        var sequence = ControlSequence()
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !sequence.takes(scalar) {
            visible.append(scalar)
        }
        var output = String.UnicodeScalarView()
        appendPlain(visible, tab: "\t", scalarCountMax: scalarCountMax) { output.append($0) }
        return String(output)
    }

    /// Hands on what may be shown, cut to a length.
    private static func appendPlain(
        _ scalars: String.UnicodeScalarView, tab: Unicode.Scalar = " ", scalarCountMax: Int,
        to append: (Unicode.Scalar) -> Void
    ) {
        var heldBack: Unicode.Scalar?
        var count = 0
        for scalar in withBoundedCharacters(scalars.filter { !isLeftOut($0) }) {
            count += 1
            guard count <= scalarCountMax else {
                // The last one that fits gives way to the ellipsis.
                return append("…")
            }
            if let heldBack { append(heldBack) }
            heldBack =
                switch scalar {
                case "\t": tab
                // Two more ways to end a line, and texts of one line look for one only.
                case "\u{2028}", "\u{2029}": "\n"
                default: scalar
                }
        }
        if let heldBack { append(heldBack) }
    }

    /// Leaves out what is beyond the bound of one character: joined emoji, marks upon marks, and letters of Hangul without end.
    private static func withBoundedCharacters(_ scalars: String.UnicodeScalarView) -> String.UnicodeScalarView {
        let text = String(scalars)
        guard text.contains(where: { $0.unicodeScalars.count > characterScalarCountMax }) else { return scalars }
        return text.reduce(into: String.UnicodeScalarView()) { bounded, character in
            bounded.append(contentsOf: character.unicodeScalars.prefix(characterScalarCountMax))
        }
    }

    /// Whether nothing may show a scalar.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F: true
        // Embeddings, overrides and isolates of the writing direction, which could turn round what stands beside them.
        case 0x202A...0x202E, 0x2066...0x2069: true
        case 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}
