// SPDX-License-Identifier: Apache-2.0

/// The data directories of the XDG Base Directory Specification.
package struct DesktopFolders {
    /// The user's own data directory; nil if `HOME` and `XDG_DATA_HOME` name none.
    package let dataHome: String?
    /// All data directories, the user's first.
    package let data: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME`; ignores relative paths, as the specification requires.
    package init(environment: [String: String]) {
        let isAbsolute: (String) -> Bool = { $0.utf8.first == UInt8(ascii: "/") }
        let home = environment["HOME"].flatMap { isAbsolute($0) ? "\($0)/.local/share" : nil }
        dataHome = environment["XDG_DATA_HOME"].flatMap { isAbsolute($0) ? $0 : nil } ?? home
        let listed = (environment["XDG_DATA_DIRS"] ?? "").split(separator: ":").map(String.init).filter(isAbsolute)
        data = (dataHome.map { [$0] } ?? []) + (listed.isEmpty ? ["/usr/local/share", "/usr/share"] : listed)
    }
}
