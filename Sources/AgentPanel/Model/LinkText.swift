// SPDX-License-Identifier: Apache-2.0

/// Texts about the address that View opens.
enum LinkText {
    /// Returns the host of an https address, without a port; the scheme of another address.
    static func host(_ url: String) -> String {
        guard url.lowercased().hasPrefix("https://") else { return String(url.prefix { $0 != ":" }) }
        let rest = url.dropFirst("https://".count).prefix { !"/?#".contains($0) }
        let host = rest.split(separator: "@", omittingEmptySubsequences: false).last ?? rest
        guard !host.hasPrefix("[") else { return String(host.prefix { $0 != "]" }) + "]" }
        return VisibleText.line(String(host.prefix { $0 != ":" }))
    }
}
