// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The user-visible texts in the user's language, from gettext's domain `posthorn-panel`.
///
/// The English text is the key, and is used if no catalog is loaded or the text is not translated.
package enum MessageCatalog {
    private static let domain = "posthorn-panel"
    /// The environment variable that overrides the installed folder of catalogs.
    package static let folderVariable = "POSTHORN_LOCALE_DIR"
    /// The help text of `folderVariable`.
    package static let folderHelp = "The folder of message catalogs to use instead of ../share/locale"

    /// Selects the language of the environment (`setlocale`, `LC_MESSAGES`) and finds the catalogs relative to the
    /// program, in `../share/locale`.
    package static func load() {
        unsafe setlocale(LC_MESSAGES, "")
        let named = unsafe getenv(folderVariable).map { unsafe String(cString: $0) } ?? ""
        let folder = named.isEmpty ? "\(programFolder)/../share/locale" : named
        unsafe bindtextdomain(domain, folder)
        unsafe bind_textdomain_codeset(domain, "UTF-8")
    }

    /// Returns the translation of a text (`dgettext`).
    package static func text(_ key: String) -> String {
        // For an untranslated text, `dgettext` returns its argument, which is valid only inside this closure.
        unsafe key.withCString { key in unsafe String(cString: dgettext(domain, key)) }
    }

    /// Returns the singular or plural form for a count (`dngettext`); the caller inserts the number.
    package static func text(_ one: String, _ many: String, count: Int) -> String {
        unsafe one.withCString { one in
            unsafe many.withCString { many in
                unsafe String(cString: dngettext(domain, one, many, UInt(clamping: count)))
            }
        }
    }

    private static var programFolder: String {
        guard let program = unsafe realpath("/proc/self/exe", nil) else { return "/usr/bin" }
        defer { unsafe free(program) }
        return unsafe PrivateFile.directory(of: String(cString: program))
    }
}
