// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushCore
internal import PushNet

/// The localized texts that apps install.
///
/// `posthorn/texts/APPID/LANGUAGE.json` in the XDG data directories is an object that maps keys to texts.
///
/// Keys come from payloads. They only select a text in the app's files and are never part of a path.
struct AppTexts: Sendable {
    /// The maximum size of a file in bytes.
    static let fileByteCountMax = 256 * 1024
    /// The maximum length of a text in bytes.
    static let textByteCountMax = 4096
    /// The maximum number of the user's languages that are searched.
    static let languageCountMax = 16

    private let folders: [String]
    private let languages: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `HOME`, and the user's languages.
    init(environment: [String: String]) {
        folders = DesktopFolders(environment: environment).data.map { "\($0)/posthorn/texts" }
        languages = Self.languages(environment)
    }

    /// Returns the look-up for an app's texts; it reads the app's files at the first key.
    func translation(for appID: AppID) -> AppTranslation {
        guard DesktopEntry.isValidID(appID.text) else { return { _ in nil } }
        let catalogues = Catalogues(self, appID)
        return { key in catalogues.text(key) }
    }

    /// An app's files in the order of the user's languages; read once, on first use.
    private final class Catalogues {
        private let texts: AppTexts
        private let appID: AppID
        private lazy var files = texts.languages.compactMap { texts.catalogue($0, of: appID) }

        init(_ texts: AppTexts, _ appID: AppID) {
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

    /// Returns the file of a language: the user's own, or else the system's.
    private func catalogue(_ language: String, of appID: AppID) -> JSONValue? {
        let paths = folders.map { "\($0)/\(appID)/\(language).json" }
        guard let path = paths.first(where: DesktopEntries.isRegularFile) else { return nil }
        do {
            let bytes = try PrivateFile.read(path, byteCountMax: Self.fileByteCountMax)
            return try JSONValue(parsing: bytes.span)
        } catch {
            agentLog.warning("texts_unreadable", ["app": appID.text, "language": language, "error": "\(error)"])
            return nil
        }
    }

    /// Returns the languages to search, best first.
    ///
    /// The order is gettext's, with a language without its country as a fallback; then come `en` and `default`.
    ///
    /// - Parameter environment: The environment with the locale variables.
    /// - Returns: The languages, without duplicates.
    static func languages(_ environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let own = DesktopLocale.candidates(locale)
        // With the locale C, gettext ignores the list in `LANGUAGE`.
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
