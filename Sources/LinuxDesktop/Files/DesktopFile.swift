// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The keys of one group of a .desktop file, or of another file in the same format.
///
/// - SeeAlso: Desktop Entry Specification 1.5, sections 3 to 5.
package struct DesktopFile {
    /// The maximum size of a file in bytes.
    package static let byteCountMax = 256 * 1024

    private var values: [String: String] = [:]

    /// Parses one group, by default the main one; malformed lines are skipped, as desktops do.
    package init(_ text: [UInt8], group: String = "Desktop Entry") {
        var isInGroup = false
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = DesktopFile.trimmed(line)
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                guard !isInGroup else { return }
                isInGroup = line.elementsEqual("[\(group)]".utf8)
            } else if isInGroup, let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                let key = String(decoding: DesktopFile.trimmed(line[..<equals]), as: UTF8.self)
                let value = String(decoding: DesktopFile.trimmed(line[line.index(after: equals)...]), as: UTF8.self)
                // The specification forbids duplicate keys; the first one counts.
                if values[key] == nil { values[key] = value }
            }
        }
    }

    /// Returns a string value with its escapes resolved; nil if the key is missing.
    package func string(_ key: String) -> String? { values[key].map(DesktopFile.unescaped) }

    /// Returns the value for the user's locale, or else the one without a locale.
    func localizedString(_ key: String, _ locale: DesktopLocale) -> String? {
        for suffix in locale.suffixes {
            if let value = string("\(key)[\(suffix)]") { return value }
        }
        return string(key)
    }

    /// Returns whether a boolean is true; old files write 1.
    func isTrue(_ key: String) -> Bool { values[key] == "true" || values[key] == "1" }

    /// Resolves the escapes `\s`, `\n`, `\t`, `\r` and `\\`; any other escape stays as it is.
    private static func unescaped(_ text: String) -> String {
        var output = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            guard isEscaped else {
                if scalar == "\\" { isEscaped = true } else { output.append(scalar) }
                continue
            }
            isEscaped = false
            switch scalar {
            case "s": output.append(" ")
            case "n": output.append("\n")
            case "t": output.append("\t")
            case "r": output.append("\r")
            case "\\": output.append("\\")
            default: output.append(contentsOf: ["\\", scalar])
            }
        }
        if isEscaped { output.append("\\") }
        return String(output)
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 0x0D }
        let start = line.drop(while: isBlank)
        return start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? []
    }
}

/// The locale in which names are shown, from the environment.
package struct DesktopLocale {
    /// The possible locale suffixes of a key, best first.
    package let suffixes: [String]

    /// Reads `LC_ALL`, `LC_MESSAGES` or `LANG`: `lang_COUNTRY.ENCODING@MODIFIER`.
    package init(environment: [String: String]) {
        let value = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        suffixes = Self.candidates(value)
    }

    /// Returns a locale and its fallbacks, best first; none for `C` and `POSIX`.
    ///
    /// - Parameter value: The locale as `lang_COUNTRY.ENCODING@MODIFIER`.
    /// - Returns: The candidates, for example `sr_RS@latin`, `sr_RS`, `sr@latin`, `sr`.
    package static func candidates(_ value: String) -> [String] {
        let parts = value.split(separator: "@", maxSplits: 1)
        let modifier = parts.count == 2 ? "@\(parts[1])" : ""
        let place = parts.first?.split(separator: ".").first.map(String.init) ?? ""
        let language = place.split(separator: "_").first.map(String.init) ?? ""
        guard !language.isEmpty, language != "C", language != "POSIX" else { return [] }
        let candidates = [place + modifier, place, language + modifier, language]
        return candidates.enumerated().filter { !candidates[..<$0.offset].contains($0.element) }.map(\.element)
    }
}
