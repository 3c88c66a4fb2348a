// SPDX-License-Identifier: Apache-2.0

/// Why the notification list is empty, and what to do about it.
package struct EmptyInboxText: Equatable, Sendable {
    /// The picture.
    package var icon: String
    /// What there is.
    package var title: String
    /// Why, or what to do.
    package var advice: String

    /// Says it.
    ///
    /// - Parameters:
    ///   - isSearching: Whether something is typed in the search bar.
    ///   - filter: What is asked for.
    ///   - isSwitchedOff: Whether the master switch is off.
    ///   - isPaired: Whether the computer has a server.
    ///   - hasAgent: Whether there is somebody to ask.
    package init(
        isSearching: Bool, filter: NotificationRows.Filter, isSwitchedOff: Bool, isPaired: Bool, hasAgent: Bool
    ) {
        icon = "preferences-system-notifications-symbolic"
        title = tr("No Notifications")
        if !hasAgent {
            icon = "dialog-warning-symbolic"
            title = tr("Not Running")
            advice = tr("The notification service is not running. Start it below, or sign in again.")
        } else if isSearching {
            icon = "edit-find-symbolic"
            title = tr("Nothing Found")
            advice =
                switch filter {
                case .all: tr("No notification has all of these words.")
                case .unseen: tr("No unseen notification has all of these words.")
                case .notShown: tr("No notification that was not shown has all of these words.")
                }
        } else if isSwitchedOff {
            advice = tr("All notifications are switched off. Switch them on in Settings.")
        } else if !isPaired {
            advice = tr("This computer has no server yet. Pair it in Settings.")
        } else {
            advice =
                switch filter {
                case .all: tr("What comes in is listed here.")
                case .unseen: tr("There is nothing new.")
                case .notShown: tr("Everything that came was shown.")
                }
        }
    }
}
