// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore

/// Shows alerts on a desktop, in the panel or on a terminal.
///
/// All calls are made on the thread of the agent's loop.
protocol AlertPresenter: AnyObject {
    /// The receiver of outcomes; the agent sets it before the first alert.
    var delegate: (any AlertPresenterDelegate)? { get set }
    /// Mutes apps whose banners offer it; the agent sets it before the first alert.
    var muter: (any AppMuter)? { get set }
    /// Whether alerts can be shown now, because a notification server or a terminal is there.
    var isAvailable: Bool { get }
    /// Returns whether alerts of a style can be shown now.
    func isAvailable(for style: AlertStyle) -> Bool
    /// Shows an alert; it replaces the one with the same collapse ID.
    ///
    /// - Parameters:
    ///   - alert: The alert to show.
    ///   - completion: Called once: whether the alert was shown, and whether the caller must play the sound.
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void)
    /// Counts entries that are not presented one by one in a banner of their app.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - app: An alert with the app's ID, name and icon.
    func sumUp(_ entries: [EntryID], of app: Alert)
    /// Closes the alerts of these entries.
    func withdraw(entries: [EntryID])
    /// Adopts alerts of an earlier run of the agent that may still be on the screen.
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)])
}

/// Mutes apps at the request of a banner.
protocol AppMuter: AnyObject {
    /// Returns whether the user may mute an app.
    func canMute(_ appID: AppID) -> Bool
    /// Mutes an app for an hour from now.
    func muteForOneHour(_ appID: AppID)
}

extension AlertPresenter {
    /// The default: no banner offers to mute its app.
    var muter: (any AppMuter)? {
        get { nil }
        set {}
    }

    /// The default: availability does not depend on the style.
    package func isAvailable(for style: AlertStyle) -> Bool { isAvailable }

    /// The default: the entries are in the inbox only.
    package func sumUp(_ entries: [EntryID], of app: Alert) {}
}

/// The end of an alert: the user's answer, or its expiration.
package enum AlertOutcome: Sendable, Equatable {
    /// View, or a click on the body; the token lets the app raise its window.
    case view(activationToken: String?)
    /// A button of the app, by its ID in the manifest; `text` is the typed text, or nil.
    case action(id: String, text: String?, activationToken: String?)
    /// Close, OK, Escape, or the window's close button.
    case dismissed
    /// The alert left the screen without an answer.
    case expired
}

extension AlertOutcome {
    /// Validates a token from another program, because it goes into the environment of a program; nil if it is empty or
    /// malformed.
    static func activationToken(_ text: String) -> String? {
        let isToken = !text.isEmpty && text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        return isToken ? text : nil
    }
}

/// The result of presenting an alert.
enum AlertPresented: Sendable, Equatable {
    /// The alert is on the screen.
    ///
    /// When `playsSound` is false, the agent plays the sound.
    case shown(playsSound: Bool)
    /// The alert may be on the screen and must not be presented again.
    ///
    /// The delegate's `alertShown` follows if the server answers late.
    case inDoubt(playsSound: Bool)
    /// A banner of the app counts the alert, because the app has shown several just before; no sound is played.
    case summedUp
    /// The alert cannot be shown now; retry after `presenterBecameAvailable`.
    case unavailable(String)

    /// Whether the agent need not play a sound.
    var playsSound: Bool {
        switch self {
        case .shown(let playsSound), .inDoubt(let playsSound): playsSound
        case .summedUp, .unavailable: true
        }
    }

    /// The inbox's reason for an alert in doubt.
    static let doubt = "the notification server did not confirm that it shows the alert"
}

/// Receives the events of a presenter.
protocol AlertPresenterDelegate: AnyObject {
    /// Reports the end of an alert; at most once for each.
    func alert(_ entry: EntryID, ended outcome: AlertOutcome)
    /// Reports the location of an alert on the screen, for the agent's next run; called before the presenter's result.
    func alertShown(_ entry: EntryID, at location: AlertLocation)
    /// Reports alerts that have left the screen or are no longer ours; called after their outcome.
    func alertsLeft(_ entries: [EntryID])
    /// Reports unanswered alerts that their server lost; they may be presented again once a server is available.
    func alertsLost(_ entries: [EntryID])
    /// Reports that `unavailable` alerts may be presented again.
    func presenterBecameAvailable()
}
