// SPDX-License-Identifier: Apache-2.0

package import AgentStore
package import PushCore
internal import PushNet

/// Receives the changes that the agent's clients subscribe to.
package protocol AgentObserver: AnyObject {
    /// Called when an app has a new device token.
    func tokenChanged(appID: AppID, deviceToken: String)
    /// Called when the number on an app's icon has changed.
    func badgeChanged(appID: AppID, count: UInt32)
    /// Called when settings of an app have changed; nil means the user's own settings.
    func settingsChanged(appID: AppID?)
    /// Called when the server ended or refused an app's subscription; `reason` is the server's code.
    func subscriptionEnded(appID: AppID, channel: String, reason: String)
    /// Called when a notification has arrived and has an inbox entry; it may not be presented yet.
    func notificationArrived(entry: EntryID)
    /// Called when inbox entries were added, changed or removed.
    func inboxChanged()
    /// Called when the set of alerts that wait in the panel has changed.
    func alertsChanged()
    /// Called when the connection, its error or the notice may have changed.
    func statusChanged()
}

/// Notifies the observer of changes, and joins those that come in bursts.
final class ChangeNotifier {
    weak var observer: (any AgentObserver)?
    private let loop: EventLoop
    private var isInboxChangeDue = false
    private var isAlertsChangeDue = false
    private static let inboxChangeDelay: Duration = .milliseconds(50)

    init(loop: EventLoop) { self.loop = loop }

    /// Notifies the observer after a short delay, once for all changes until then.
    ///
    /// So a burst of notifications does not become a burst of signals.
    func inboxChanged() {
        guard !isInboxChangeDue else { return }
        isInboxChangeDue = true
        loop.schedule(after: Self.inboxChangeDelay) { [weak self] in
            self?.isInboxChangeDue = false
            self?.observer?.inboxChanged()
        }
    }

    /// Notifies the observer at the end of the turn, once for all changes of the turn.
    func alertsChanged() {
        guard !isAlertsChangeDue else { return }
        isAlertsChangeDue = true
        loop.atEndOfTurn { [weak self] in
            self?.isAlertsChangeDue = false
            self?.observer?.alertsChanged()
        }
    }
}
