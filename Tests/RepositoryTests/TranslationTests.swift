// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Compares the texts of the panel and of the agent's alerts with the translations in `po/`.
struct TranslationTests {
    private static let folder = "\(RepositoryPaths.root)/po"

    /// The languages that have a file in `po/`.
    private static let languages =
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.filter { $0.hasSuffix(".po") }.sorted() ?? []

    /// The texts in the sources, as they are written there.
    private static let texts: Set<String> = {
        let files = RepositoryFiles.sources.filter { file in
            ["Sources/AgentPanel/", "Sources/DeviceAgent/"].contains { file.path.hasPrefix($0) }
        }
        let calls = ["tr(", "Texts.text(", "MessageCatalog.text("]
        return Set(files.flatMap { file in calls.flatMap { literals(after: $0, in: file.text) } })
    }()

    /// Returns the quoted texts that directly follow a word, where the word is not part of a longer one.
    private static func literals(after word: String, in text: String) -> [String] {
        let parts = text.components(separatedBy: word)
        return zip(parts, parts.dropFirst()).compactMap { before, after in
            if let last = before.last, last.isLetter || last.isNumber { return nil }
            let rest = after.drop { $0.isWhitespace }
            guard rest.first == "\"" else { return nil }
            return String(rest.dropFirst().prefix { $0 != "\"" })
        }
    }

    /// Reads the texts of a file with their translations, including empty ones.
    private func entries(of name: String) -> [String: String] {
        var found: [String: String] = [:]
        var (text, isText) = ("", false)
        for line in readText("\(Self.folder)/\(name)").components(separatedBy: "\n") {
            guard let start = line.firstIndex(of: "\""), let end = line.lastIndex(of: "\""), start < end else {
                continue
            }
            let quoted = String(line[line.index(after: start)..<end])
            if line.hasPrefix("msgid ") {
                (text, isText) = (quoted, true)
            } else if line.hasPrefix("msgid_plural") {
                isText = false
            } else if line.hasPrefix("msgstr") {
                (found[text], isText) = (quoted, false)
            } else if isText {
                text += quoted
            } else {
                found[text, default: ""] += quoted
            }
        }
        found[""] = nil
        return found
    }

    @Test func `the template has exactly the texts of the sources, or run make translations`() {
        #expect(Self.texts.count > 100)
        let known = Set(entries(of: "posthorn-panel.pot").keys)
        #expect(known.subtracting(Self.texts) == [] && Self.texts.subtracting(known) == [])
    }

    @Test(arguments: ["de", "zh_TW"]) func `a German and a Traditional Chinese translation exist`(language: String) {
        #expect(Self.languages.contains("\(language).po"))
    }

    @Test(arguments: languages) func `a language translates every text`(file: String) async throws {
        let translated = entries(of: file).filter { !$0.value.isEmpty }.keys
        #expect(Self.texts.subtracting(translated) == [])
        try await RunningProcess.run(
            RepositoryPaths.tool("msgfmt"), ["--check", "--output-file=/dev/null", "\(Self.folder)/\(file)"]
        ).succeeded()
    }

    @Test(arguments: languages) func `a translation has the placeholders of its text`(file: String) {
        for (text, translation) in entries(of: file) where !translation.isEmpty {
            #expect(marks(text) == marks(translation), "\(text)")
        }
    }

    @Test(arguments: languages)
    func `the panel's store description uses the panel's own button names`(file: String) throws {
        let code = file.dropLast(".po".count).replacing("_", with: "-")
        let description = readText("\(RepositoryPaths.root)/deploy/metainfo/org.posthorn.Panel.metainfo.xml")
        let features = description.components(separatedBy: "\n").filter { $0.contains("<li xml:lang=\"\(code)\">") }
        let alerts = try #require(features.first, "alerts are the first that it names")
        let translations = entries(of: file)
        for button in ["Close", "View"] {
            let label = try #require(translations[button])
            #expect(["「\(label)」", "„\(label)“"].contains { alerts.contains($0) }, "\(alerts)")
        }
    }

    /// Returns the placeholders of a text, such as `%1`.
    private func marks(_ text: String) -> [String] {
        text.components(separatedBy: "%").dropFirst().map { String($0.prefix(1)) }.sorted()
    }
}
