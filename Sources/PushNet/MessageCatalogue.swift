// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// What programs say to the person at the desk, in the person's language: gettext's domain `posthorn-panel`.
///
/// The English text is the key. Where nothing is loaded or translated, it is what is said.
package enum MessageCatalogue {
    private static let domain = "posthorn-panel"
    /// Names another folder of catalogues than the installed one.
    package static let folderVariable = "POSTHORN_LOCALE_DIR"
    /// What help says of it.
    package static let folderHelp = "Where the catalogues of languages are, in the place of ../share/locale"

    /// Takes the language of the environment (`setlocale`, `LC_MESSAGES`) and finds the catalogues: beside the program, in
    /// `../share/locale`.
    package static func load() {
        unsafe setlocale(LC_MESSAGES, "")
        let named = unsafe getenv(folderVariable).map { unsafe String(cString: $0) } ?? ""
        let folder = named.isEmpty ? "\(programFolder)/../share/locale" : named
        unsafe bindtextdomain(domain, folder)
        unsafe bind_textdomain_codeset(domain, "UTF-8")
    }

    /// `dgettext`.
    package static func text(_ key: String) -> String {
        // What is not translated comes back as it went in, and is gone after this.
        unsafe key.withCString { key in unsafe String(cString: dgettext(domain, key)) }
    }

    /// `dngettext`: the right one of two for a count, which is still to be put in.
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
