// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A host from which an app's pictures may be fetched: a name, with a port if it is not 443.
package struct PictureHost: Sendable, Equatable {
    /// The name and the port, in lower case.
    private let authority: String

    /// Parses a member of `picture_hosts`; returns nil for anything but a host, optionally with a port.
    package init?(_ text: String) {
        let lowercase = text.lowercased()
        guard let link = try? NotificationLink("https://\(lowercase)"), link.authority == lowercase else { return nil }
        authority = lowercase
    }

    /// Returns whether an address is on this host.
    package func matches(_ link: NotificationLink) -> Bool {
        guard link.isSecureWeb, let authority = link.authority else { return false }
        return Self.withPort(authority).utf8.elementsEqual(Self.withPort(self.authority).utf8)
    }

    /// Returns the authority with its port.
    private static func withPort(_ authority: String) -> String {
        let afterAddress = authority.utf8.last == UInt8(ascii: "]") ? "" : authority.split(separator: ":").last ?? ""
        let hasPort = authority.utf8.contains(UInt8(ascii: ":")) && !afterAddress.isEmpty
        return hasPort ? authority : "\(authority):443"
    }
}
