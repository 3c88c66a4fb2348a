// SPDX-License-Identifier: Apache-2.0

/// The texts of the empty notification list: the reason and the remedy.
struct EmptyInboxText: Equatable, Sendable {
    /// The name of the icon.
    var icon: String
    var title: String
    /// The explanation or the remedy.
    var advice: String

    /// Chooses the texts.
    ///
    /// - Parameters:
    ///   - isSearching: Whether the search field contains text.
    ///   - filter: The current filter.
    ///   - isSwitchedOff: Whether the master switch is off.
    ///   - isPaired: Whether the computer is paired with a server.
    ///   - hasAgent: Whether the agent runs.
    init(
        isSearching: Bool, filter: InboxFilter, isSwitchedOff: Bool, isPaired: Bool, hasAgent: Bool
    ) {
        icon = "preferences-system-notifications-symbolic"
        title = tr("No Notifications")
        if !hasAgent {
            icon = "dialog-warning-symbolic"
            title = tr("Service Not Running")
            advice = tr("The notification service is not running. Start it below, or sign in again.")
        } else if isSearching {
            icon = "edit-find-symbolic"
            title = tr("Nothing Found")
            advice =
                switch filter {
                case .all: tr("No notification contains all of these words.")
                case .unread: tr("No unread notification contains all of these words.")
                case .notShown: tr("No notification in this list contains all of these words.")
                }
        } else if isSwitchedOff {
            advice = tr("All notifications are turned off. Turn them on in Settings.")
        } else if !isPaired {
            advice = tr("Pair this computer with a server to receive notifications.")
        } else {
            advice =
                switch filter {
                case .all: tr("New notifications appear here.")
                case .unread: tr("There are no unread notifications.")
                case .notShown: tr("All notifications were shown.")
                }
        }
    }
}
