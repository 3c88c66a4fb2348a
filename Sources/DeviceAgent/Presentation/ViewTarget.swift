// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

/// The thing that View opens.
enum ViewTarget: Sendable, Equatable {
    case app
    case link(NotificationLink)
    /// The app is not installed, and there is no link that may be opened.
    case nothing

    /// Decides what View opens for an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - app: The entry's app.
    ///   - schemes: The schemes that the app's .desktop file registers; nil if the app is not installed.
    init(_ entry: InboxEntry, _ app: RegisteredApp, schemes: [String]?) {
        let link = entry.url.flatMap { try? NotificationLink($0) }
            .flatMap { $0.isSecureWeb || schemes?.contains($0.scheme) == true ? $0 : nil }
        self =
            if let link, schemes == nil || app.manifest.opensLinks { .link(link) } else {
                schemes == nil ? .nothing : .app
            }
    }

    /// The link; nil if View opens the app or nothing.
    var link: NotificationLink? { if case .link(let link) = self { link } else { nil } }
}
