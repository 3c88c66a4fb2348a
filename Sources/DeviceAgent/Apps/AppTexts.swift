// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The texts that apps installed: `posthorn/texts/APPID/LANGUAGE.json` in the XDG data directories, an object of texts
/// by key.
///
/// Keys come from payloads: they choose among the texts of the app's files, and are no part of a path.
package struct AppTexts: Sendable {
    /// The largest file that is read, in bytes.
    package static let fileByteCountMax = 256 * 1024
    /// The longest text that is taken from it, in bytes.
    package static let textByteCountMax = 4096
    /// So many languages of a person are looked for.
    package static let languageCountMax = 16

    /// Gives an app's text for a key.
    package typealias Translation = (String) -> String?

    private let folders: [String]
    private let languages: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `HOME`, and the languages of the person.
    package init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.map { "\($0)/posthorn/texts" }
        languages = Self.languages(environment)
    }

    /// What an app has in the person's languages; its files are read when the first text is asked for.
    package func translation(for appID: String) -> Translation {
        guard DesktopEntry.isValidID(appID) else { return { _ in nil } }
        let catalogues = Catalogues(self, appID)
        return { key in catalogues.text(key) }
    }

    /// An app's files, the best language first; read once, when they are needed.
    private final class Catalogues {
        private let texts: AppTexts
        private let appID: String
        private lazy var files = texts.languages.compactMap { texts.catalogue($0, of: appID) }

        init(_ texts: AppTexts, _ appID: String) {
            self.texts = texts
            self.appID = appID
        }

        func text(_ key: String) -> String? {
            for file in files {
                if let text = AppTexts.text(key, in: file) { return text }
            }
            return nil
        }
    }

    private static func text(_ key: String, in catalogue: JSONValue) -> String? {
        guard let text = catalogue[key]?.string, !text.isEmpty, text.utf8.count <= textByteCountMax else {
            return nil
        }
        return text
    }

    /// The person's own file for a language, or else the system's.
    private func catalogue(_ language: String, of appID: String) -> JSONValue? {
        let paths = folders.map { "\($0)/\(appID)/\(language).json" }
        guard let path = paths.first(where: DesktopEntries.isRegularFile) else { return nil }
        do {
            let bytes = try PrivateFile.read(path, byteCountMax: Self.fileByteCountMax)
            return try JSONValue(parsing: bytes.span)
        } catch {
            agentLog.warning("texts_unreadable", ["app": appID, "language": language, "error": "\(error)"])
            return nil
        }
    }

    /// As gettext chooses them, with their countries left out as well; then English; then what has no language.
    static func languages(_ environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let own = DesktopLocale.candidates(locale)
        // gettext does not look at the list where programs are to speak no language.
        let listed = own.isEmpty ? [] : (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init)
        let wanted = (listed.flatMap(DesktopLocale.candidates) + own).filter(isName).prefix(languageCountMax)
        var languages: [String] = []
        for language in Array(wanted) + ["en", "default"] where !languages.contains(language) {
            languages.append(language)
        }
        return languages
    }

    private static func isName(_ language: String) -> Bool {
        language.utf8.count <= 32 && DesktopEntry.isValidID(language.replacing("@", with: "_"))
    }
}
