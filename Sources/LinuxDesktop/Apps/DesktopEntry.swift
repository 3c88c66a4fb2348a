// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// An app as its .desktop file describes it.
///
/// - SeeAlso: Desktop Entry Specification 1.5.
package struct DesktopEntry: Equatable, Sendable {
    /// The app ID: the file's name without `.desktop`.
    package var id: AppID
    /// The absolute path of the file.
    package var path: String
    /// The name in the user's language.
    package var name: String
    /// The icon's name or absolute path; nil if the app has no icon.
    package var icon: String?
    /// The program and its arguments with field codes expanded.
    ///
    /// Nil when there is no `Exec`, when it is malformed, or when the program needs a terminal.
    package var exec: [String]?
    /// The program and its arguments, for a program that needs a terminal; otherwise nil.
    var terminalExec: [String]?
    /// Whether there is an `Exec` that breaks the quoting rules.
    var hasUnreadableExec = false
    /// Whether the app is opened through `org.freedesktop.Application`.
    var isDBusActivatable: Bool
    /// The working directory of the program; nil for the agent's.
    var workingDirectory: String?
    /// The URL schemes in lower case that the app registers with `MimeType=x-scheme-handler/…`.
    package var schemes: [String] = []

    /// The value of PATH_MAX, which includes the terminating zero byte.
    private static let iconByteCountEnd = 4096

    /// Returns whether a text is an app ID: `[A-Za-z0-9][A-Za-z0-9._-]{0,254}` without `..`, which is safe as a file name.
    package static func isValidID(_ id: String) -> Bool {
        let bytes = Array(id.utf8)
        guard let first = bytes.first, isLetterOrDigit(first), bytes.count <= 255 else { return false }
        let dot = UInt8(ascii: ".")
        return bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            if byte == dot { return bytes[index - 1] != dot }
            return isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    /// Returns whether a text can be an icon: a name without a slash or an absolute path, shorter than PATH_MAX.
    static func isIcon(_ text: String) -> Bool {
        let slash = UInt8(ascii: "/")
        guard !text.isEmpty, text.utf8.count < Self.iconByteCountEnd else { return false }
        return text.utf8.first == slash || !text.utf8.contains(slash)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

extension DesktopEntry {
    /// Creates an entry from a file's keys; nil if the file is not an app, or is marked as hidden.
    ///
    /// - Parameters:
    ///   - file: The file's main group.
    ///   - id: The app ID.
    ///   - path: The absolute path of the file.
    ///   - locale: The locale of the name and the icon.
    init?(_ file: DesktopFile, id: AppID, path: String, locale: DesktopLocale) {
        guard file.string("Type") == "Application", !file.isTrue("Hidden") else { return nil }
        guard let name = file.localizedString("Name", locale), !name.isEmpty else { return nil }
        self.id = id
        self.path = path
        self.name = name
        icon = file.localizedString("Icon", locale).flatMap { Self.isIcon($0) ? $0 : nil }
        isDBusActivatable = file.isTrue("DBusActivatable")
        workingDirectory = file.string("Path").flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        let handled = "x-scheme-handler/"
        schemes = (file.string("MimeType") ?? "").split(separator: ";")
            .filter { $0.utf8.starts(with: handled.utf8) }.map { $0.dropFirst(handled.count).lowercased() }
        guard let command = file.string("Exec") else { return }
        let arguments = DesktopCommand(icon: icon, name: name, path: path).arguments(of: command)
        hasUnreadableExec = arguments == nil
        if file.isTrue("Terminal") { terminalExec = arguments } else { exec = arguments }
    }
}
