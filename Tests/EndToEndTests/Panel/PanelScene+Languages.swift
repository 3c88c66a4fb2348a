// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

extension PanelScene {
    /// English with each vowel doubled, which is about 40 % longer, as a translation may be.
    static let longerLanguage = "xx"

    /// Returns the catalog of that language, made from the translators' template.
    static func longerCatalogue() throws -> String {
        let template = try String(contentsOfFile: "\(RepositoryPaths.root)/po/posthorn-panel.pot", encoding: .utf8)
        let header = #"""
            msgid ""
            msgstr "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n"


            """#
        let entries = template.components(separatedBy: "\n\n").dropFirst()
        return header + entries.map(longerEntry).joined(separator: "\n\n") + "\n"
    }

    /// Returns whether a text is one of the panel's English texts that a language translates to a different text.
    static func isEnglish(_ text: String, in language: String) -> Bool {
        let catalogue = readText("\(RepositoryPaths.root)/po/\(language).po")
        let entry = "msgid \"\(text)\"\n"
        return catalogue.contains(entry) && !catalogue.contains("\(entry)msgstr \"\(text)\"\n")
    }

    private static func longerEntry(_ entry: String) -> String {
        var (texts, keyword): ([String: String], String) = ([:], "")
        for line in entry.components(separatedBy: "\n") where !line.isEmpty && !line.hasPrefix("#") {
            if let quote = line.firstIndex(of: "\""), quote > line.startIndex {
                keyword = String(line[..<quote])
            }
            texts[keyword, default: ""] += line.drop { $0 != "\"" } + "\n"
        }
        let one = texts["msgid ", default: ""]
        guard let many = texts["msgid_plural "] else { return "msgid \(one)msgstr \(longer(one))" }
        return "msgid \(one)msgid_plural \(many)msgstr[0] \(longer(one))msgstr[1] \(longer(many))"
    }

    private static func longer(_ text: String) -> String {
        String(text.flatMap { "aeiouAEIOU".contains($0) ? [$0, $0] : [$0] })
    }
}
