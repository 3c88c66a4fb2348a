// SPDX-License-Identifier: Apache-2.0

/// Sanitizes a provider's text for the medium that displays it.
///
/// All functions work on Unicode scalars. `Character` combines a carriage return with a line feed, and hides scalars
/// that follow combining marks.
package enum DisplayText {
    /// The maximum number of scalars in a title.
    package static let titleScalarCountMax = 256
    /// The maximum number of scalars in a body.
    package static let bodyScalarCountMax = 2000
    /// The maximum number of scalars in one grapheme cluster.
    ///
    /// Text layout does not break lines within a cluster, however wide or high it becomes.
    static let characterScalarCountMax = 16

    /// Returns text for a widget that displays plain text.
    ///
    /// Line feeds stay, other line endings become a line feed, and a tab becomes a space. The function removes other
    /// control characters, noncharacters, and embeddings, overrides and isolates of the writing direction.
    /// - Parameters:
    ///   - text: Any text.
    ///   - scalarCountMax: The maximum length in scalars, including the ellipsis of a truncated text.
    /// - Returns: The sanitized text.
    package static func plain(_ text: String, scalarCountMax: Int = bodyScalarCountMax) -> String {
        var output = String.UnicodeScalarView()
        appendPlain(text.unicodeScalars, scalarCountMax: scalarCountMax) { output.append($0) }
        return String(output)
    }

    /// Returns the plain text for a notification server that interprets markup, with all markup escaped.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - scalarCountMax: The maximum length in scalars before escaping.
    /// - Returns: The text with only `& < >` escaped, because GNOME Shell displays `&#39;` literally.
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

    /// Returns the plain text for a terminal: control sequences are removed completely, tabs stay.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - scalarCountMax: The maximum length in scalars.
    /// - Returns: The text that is safe to print.
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

    /// Returns whether nothing of a text is visible: it has only white space and scalars without a shape.
    package static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            return properties.isWhitespace || properties.isDefaultIgnorableCodePoint || isLeftOut(scalar)
                || scalar == "\u{2800}"
        }
    }

    /// Appends the displayable scalars, truncated to a length.
    private static func appendPlain(
        _ scalars: String.UnicodeScalarView, tab: Unicode.Scalar = " ", scalarCountMax: Int,
        to append: (Unicode.Scalar) -> Void
    ) {
        var heldBack: Unicode.Scalar?
        var count = 0
        for scalar in withBoundedCharacters(scalars.filter { !isLeftOut($0) }) {
            count += 1
            guard count <= scalarCountMax else {
                // The ellipsis replaces the last scalar that fits.
                return append("…")
            }
            if let heldBack { append(heldBack) }
            heldBack =
                switch scalar {
                case "\t": tab
                // These also end a line, and texts of one line check for line feeds only.
                case "\u{2028}", "\u{2029}": "\n"
                default: scalar
                }
        }
        if let heldBack { append(heldBack) }
    }

    /// Truncates each grapheme cluster that exceeds the limit.
    ///
    /// Such clusters occur with joined emoji, stacked combining marks and long sequences of Hangul letters.
    private static func withBoundedCharacters(_ scalars: String.UnicodeScalarView) -> String.UnicodeScalarView {
        let text = String(scalars)
        guard text.contains(where: { $0.unicodeScalars.count > characterScalarCountMax }) else { return scalars }
        return text.reduce(into: String.UnicodeScalarView()) { bounded, character in
            bounded.append(contentsOf: character.unicodeScalars.prefix(characterScalarCountMax))
        }
    }

    /// Returns whether a scalar must not be displayed.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F: true
        // Embeddings, overrides and isolates of the writing direction could reorder the surrounding text.
        case 0x202A...0x202E, 0x2066...0x2069: true
        case 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}
