// SPDX-License-Identifier: Apache-2.0

/// Converts an `Exec` value to an argument vector, without a shell.
///
/// - SeeAlso: Desktop Entry Specification 1.5, section 7.
struct DesktopCommand {
    /// The value of `%i`.
    var icon: String?
    /// The value of `%c`.
    var name: String
    /// The value of `%k`.
    var path: String

    /// Returns the program and its arguments.
    ///
    /// An invalid value is not repaired, because a guess could run another program. The field codes of files and URLs,
    /// `%f %F %u %U`, are removed, because there are no files here.
    ///
    /// - Parameter command: The value of `Exec`.
    /// - Returns: The words; nil if the value breaks the quoting rules.
    func arguments(of command: String) -> [String]? {
        guard let words = DesktopCommand.words(of: command) else { return nil }
        var arguments: [String] = []
        for word in words {
            guard let expanded = expanded(word) else { return nil }
            arguments += expanded
        }
        guard let program = arguments.first, !program.isEmpty, !program.utf8.contains(UInt8(ascii: "=")) else {
            return nil
        }
        return arguments
    }

    /// A word of the command; field codes are not expanded yet.
    private struct Word {
        var scalars: [Unicode.Scalar] = []
        /// Whether a part is quoted; a quoted word is an argument even if it is empty.
        var isQuoted = false
    }

    /// Splits a command at spaces; inside `"…"`, a `\` escapes `"`, `` ` ``, `$` and `\`.
    private static func words(of command: String) -> [Word]? {
        var words: [Word] = []
        var word: Word?
        var isInQuotes = false
        var isEscaped = false
        for scalar in command.unicodeScalars {
            if isEscaped {
                guard "\"`$\\".unicodeScalars.contains(scalar) else { return nil }
                word?.scalars.append(scalar)
                isEscaped = false
            } else if isInQuotes {
                switch scalar {
                case "\"": isInQuotes = false
                case "\\": isEscaped = true
                case "`", "$": return nil
                default: word?.scalars.append(scalar)
                }
            } else if scalar == "\"" {
                isInQuotes = true
                word = word ?? Word()
                word?.isQuoted = true
            } else if scalar == " " || scalar == "\t" || scalar == "\n" {
                if let word { words.append(word) }
                word = nil
            } else {
                guard !"'\\><~|&;$*?#()`".unicodeScalars.contains(scalar), scalar != "\0" else { return nil }
                word = word ?? Word()
                word?.scalars.append(scalar)
            }
        }
        guard !isInQuotes else { return nil }
        if let word { words.append(word) }
        return words
    }

    /// Expands a word to no argument, one, or the two of `%i`; nil for an unknown field code.
    private func expanded(_ word: Word) -> [String]? {
        if word.scalars == ["%", "i"] { return icon.map { ["--icon", $0] } ?? [] }
        var text = String.UnicodeScalarView()
        var hadFieldCode = false
        var isCode = false
        for scalar in word.scalars {
            guard isCode else {
                if scalar == "%" { isCode = true } else { text.append(scalar) }
                continue
            }
            isCode = false
            switch scalar {
            case "%": text.append("%")
            case "c": text.append(contentsOf: name.unicodeScalars)
            case "k": text.append(contentsOf: path.unicodeScalars)
            case "f", "F", "u", "U", "i", "d", "D", "n", "N", "v", "m": hadFieldCode = true
            default: return nil
            }
        }
        guard !isCode else { return nil }
        return text.isEmpty && (hadFieldCode || !word.isQuoted) ? [] : [String(text)]
    }
}
