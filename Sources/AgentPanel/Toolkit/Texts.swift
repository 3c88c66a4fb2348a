// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import Glibc
internal import PushNet

/// What the panel says, in the person's language: gettext's domain `posthorn-panel`.
///
/// The English text is the key. Where nothing is bound or translated, it is what is said.
package enum Texts {
    static let domain = "posthorn-panel"
    /// Names another folder of catalogues than the installed one.
    package static let folderVariable = "POSTHORN_LOCALE_DIR"

    /// Sets the locale (`setlocale`) and finds the catalogues: beside the program, in `../share/locale`.
    static func load() {
        unsafe setlocale(LC_ALL, "")
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

    /// `dngettext`: the right one of two for a count, which stands where `%d` is.
    package static func text(_ one: String, _ many: String, count: Int) -> String {
        let found = unsafe one.withCString { one in
            unsafe many.withCString { many in
                unsafe String(cString: dngettext(domain, one, many, UInt(clamping: count)))
            }
        }
        return fill(found, "\(count)")
    }

    /// Puts texts in the place of `%1`, `%2` and so on; of `%d` the first.
    package static func fill(_ text: String, _ values: String...) -> String {
        var output = ""
        var rest = Substring(text)
        while let mark = rest.firstIndex(of: "%") {
            output += rest[..<mark]
            let after = rest[rest.index(after: mark)...]
            guard let sign = after.first, let index = sign == "d" ? 1 : sign.wholeNumberValue, index >= 1,
                index <= values.count
            else {
                output += "%"
                rest = after
                continue
            }
            output += values[index - 1]
            rest = after.dropFirst()
        }
        return output + rest
    }

    private static var programFolder: String {
        guard let program = unsafe realpath("/proc/self/exe", nil) else { return "/usr/bin" }
        defer { unsafe free(program) }
        return unsafe PrivateFile.directory(of: String(cString: program))
    }
}

/// The text in the person's language; short, because it stands before every text of the panel.
func tr(_ key: String) -> String { Texts.text(key) }
