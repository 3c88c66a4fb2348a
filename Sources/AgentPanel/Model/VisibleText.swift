// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What other programs call things, as it stands on one line or on a button.
package enum VisibleText {
    /// The longest label of a button; notification servers get no longer one.
    package static let labelScalarCountMax = 40

    /// The text on one line: what ends a line is a blank.
    ///
    /// - Returns: Empty where there is nothing to see.
    package static func line(_ text: String) -> String {
        let scalars = DisplayText.plain(text).unicodeScalars.map { endsLine($0) ? " " : $0 }
        return orNothing(String(String.UnicodeScalarView(scalars)))
    }

    /// The text on as many lines as it has; empty where there is nothing to see.
    package static func lines(_ text: String) -> String { orNothing(text) }

    /// The text on one line that a button has room for; empty where there is nothing to see.
    package static func label(_ text: String) -> String {
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

    /// Whether there is something to see of a scalar that stands alone.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // Braille without a dot is a sign to Unicode.
        guard !scalar.properties.isWhitespace, !scalar.properties.isDefaultIgnorableCodePoint, scalar != "\u{2800}"
        else { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            return false
        default: return true
        }
    }
}
