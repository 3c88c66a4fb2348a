// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Shows alerts somewhere.
///
/// One thread, that of the agent's loop.
package protocol AlertPresenter: AnyObject {
    /// Set by the agent before anything is presented.
    var delegate: (any AlertPresenterDelegate)? { get set }
    /// Whether alerts can be shown now (a notification daemon or a terminal is there).
    var isAvailable: Bool { get }
    /// Whether alerts of a style can be shown now.
    func isAvailable(for style: AlertStyle) -> Bool
    /// Shows an alert, in the place of the one that has the same collapse id.
    ///
    /// - Parameters:
    ///   - alert: What to show.
    ///   - completion: Called once: whether it was shown, and whether the sound is left to the caller.
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void)
    /// Takes alerts off the screen.
    func withdraw(entries: [Int64])
    /// Takes up alerts that an earlier run of the agent showed, where they are still on the screen.
    func adopt(_ alerts: [(alert: Alert, place: AlertPlace)])
}

extension AlertPresenter {
    /// One place for all styles.
    package func isAvailable(for style: AlertStyle) -> Bool { isAvailable }
}

/// What a person did with an alert, or what became of it.
package enum AlertOutcome: Sendable, Equatable {
    /// View, or a click on the body; the token lets the app's window come to the front.
    case view(activationToken: String?)
    /// A button of the app, by its id in the manifest; the text is what the person typed, nil for nothing.
    case action(id: String, text: String?, activationToken: String?)
    /// Close, OK, Escape or the window's own close.
    case dismissed
    /// It left the screen by itself.
    case expired
}

extension AlertOutcome {
    /// A token as it came from another program; nil for none, and for what cannot be one: it goes into the environment of a
    /// program.
    static func activationToken(_ text: String) -> String? {
        let isToken = !text.isEmpty && text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        return isToken ? text : nil
    }
}

/// The answer of a presenter.
package enum AlertPresented: Sendable, Equatable {
    /// On the screen. When `playsSound` is false the agent plays the sound itself.
    case shown(playsSound: Bool)
    /// Handed over, but nobody knows whether it is on the screen: it must not be presented again. The delegate's
    /// `alertShown` tells when that is known.
    case inDoubt(playsSound: Bool)
    /// Nothing there to show it: try again when the presenter says that it became available.
    case unavailable(String)

    /// Whether the agent has no sound to play for it.
    var playsSound: Bool {
        switch self {
        case .shown(let playsSound), .inDoubt(let playsSound): playsSound
        case .unavailable: true
        }
    }

    /// What the inbox says of one in doubt.
    static let doubt = "the notification server did not say whether it shows it"
}

/// What a presenter tells the agent.
package protocol AlertPresenterDelegate: AnyObject {
    /// An alert ended; at most once for each.
    func alert(_ entry: Int64, ended outcome: AlertOutcome)
    /// An alert is on the screen now, where the next run of the agent finds it; before the presenter's answer.
    func alertShown(_ entry: Int64, at place: AlertPlace)
    /// Alerts are not on the screen any more, or no longer ours; after their outcome.
    func alertsLeft(_ entries: [Int64])
    /// Alerts that nobody answered went with their server; once one is available, they may be presented again.
    func alertsLost(_ entries: [Int64])
    /// What was `unavailable` may be presented again.
    func presenterBecameAvailable()
}
