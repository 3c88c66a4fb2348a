// SPDX-License-Identifier: Apache-2.0

/// A text in the format of man(7), which groff formats.
///
/// A line that starts with a dot or an apostrophe is a macro, and a backslash starts an escape sequence.
struct RoffText {
    private(set) var source = ""

    /// Starts a page.
    ///
    /// The page has no date, so that two builds of the same version are equal.
    ///
    /// - Parameters:
    ///   - page: The name of the page.
    ///   - section: The section of the manual.
    ///   - version: The text at the left of the footer.
    init(page: String, section: Int, version: String) {
        macro("TH", page.uppercased(), "\(section)", "", version, "Posthorn")
    }

    mutating func heading(_ title: String) { macro("SH", title) }

    mutating func subheading(_ title: String) { macro("SS", title) }

    mutating func paragraph(_ text: String) {
        macro("PP")
        line(Self.escaped(text))
    }

    /// Adds a line in the font of a paragraph that starts.
    mutating func plain(_ text: String) { line(Self.escaped(text)) }

    /// Adds lines that keep their line ends, such as the ways to call a program.
    mutating func literal(_ lines: [String]) {
        macro("PP")
        macro("nf")
        for text in lines { line(Self.escaped(text)) }
        macro("fi")
    }

    /// Adds a term with its meaning, which is indented.
    ///
    /// - Parameters:
    ///   - bold: The words of the term to type as they stand, separated by commas in the page.
    ///   - italic: The word to replace by a value.
    ///   - meaning: The meaning.
    mutating func item(_ bold: [String], _ italic: String?, _ meaning: String) {
        macro("TP")
        let words = bold.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
        let value = italic.map { "\\fI\(Self.escaped($0))\\fR" } ?? ""
        line([words, value].filter { !$0.isEmpty }.joined(separator: " "))
        line(Self.escaped(meaning))
    }

    /// Returns a text that groff prints unchanged.
    ///
    /// groff would print typographic characters for a hyphen-minus, quotes, a circumflex and a tilde. They could not be
    /// copied to a shell.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\(rs"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "\n": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped.utf8.first == UInt8(ascii: ".") ? "\\&" + escaped : escaped
    }

    private mutating func macro(_ name: String, _ arguments: String...) {
        line(([".\(name)"] + arguments.map { "\"\(Self.escaped($0))\"" }).joined(separator: " "))
    }

    private mutating func line(_ text: String) { source += text + "\n" }
}
