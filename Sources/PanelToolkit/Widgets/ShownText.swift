// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Cleans the texts that widgets show and that screen readers speak, because they may come from other programs.
package enum ShownText {
    /// Returns the text without control characters and without characters that have no width and no effect.
    ///
    /// Joiners and direction marks stay, because emoji and right-to-left scripts need them.
    package static func clean(_ text: String) -> String {
        let scalars = DisplayText.plain(text).unicodeScalars.filter { !isInvisible($0) }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Soft hyphen, zero-width space, word joiner, invisible operators, byte order mark.
        case 0xAD, 0x200B, 0x2060...0x2064, 0xFEFF: true
        default: false
        }
    }
}
