// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Cleans texts of other programs for one line or a button.
enum VisibleText {
    /// The maximum length of a button label, in Unicode scalars; labels for notification servers have the same limit.
    static let labelScalarCountMax = 40

    /// Returns the text on one line, with line breaks replaced by spaces.
    ///
    /// - Returns: The line; empty if the text has no visible character.
    static func line(_ text: String) -> String {
        let scalars = DisplayText.plain(text).unicodeScalars.map { endsLine($0) ? " " : $0 }
        return orNothing(String(String.UnicodeScalarView(scalars)))
    }

    /// Returns the text with its line breaks; empty if it has no visible character.
    static func lines(_ text: String) -> String { orNothing(text) }

    /// Returns the text on one line, truncated for a button; empty if it has no visible character.
    static func label(_ text: String) -> String {
        DisplayText.plain(line(text), scalarCountMax: labelScalarCountMax)
    }

    private static func orNothing(_ text: String) -> String {
        text.unicodeScalars.contains(where: isVisible) ? text : ""
    }

    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Returns whether a scalar is visible when it stands alone.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // Unicode does not classify U+2800, the Braille pattern without dots, as whitespace.
        guard !scalar.properties.isWhitespace, !scalar.properties.isDefaultIgnorableCodePoint, scalar != "\u{2800}"
        else { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            return false
        default: return true
        }
    }
}
