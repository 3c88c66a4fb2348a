// SPDX-License-Identifier: Apache-2.0

/// An alert as presenters get it: texts are raw, each presenter makes them safe for its medium.
package struct Alert: Sendable, Equatable {
    /// The inbox's number of the notification.
    package var entry: Int64
    /// The app id: name of the .desktop file without `.desktop`.
    package var appID: String
    /// The registered app's name: the top line of every alert, never text from a payload.
    package var appName: String
    /// Icon name or absolute path from the .desktop file; nil when there is none.
    package var icon: String?
    package var title: String?
    package var subtitle: String?
    package var body: String?
    /// View's label; nil when the alert has a single OK.
    package var viewLabel: String?
    /// `interruption-level` mapped: 0 low, 1 normal, 2 critical.
    package var urgency: UInt8
    /// Replaces the alert with the same key of the same app that is on the screen.
    package var collapseID: String?
    /// The sound that goes with it; nil for silence.
    package var sound: Sound?

    package init(
        entry: Int64, appID: String, appName: String, icon: String? = nil, title: String? = nil,
        subtitle: String? = nil, body: String? = nil, viewLabel: String? = "View", urgency: UInt8 = 1,
        collapseID: String? = nil, sound: Sound? = nil
    ) {
        self.entry = entry
        self.appID = appID
        self.appName = appName
        self.icon = icon
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.viewLabel = viewLabel
        self.urgency = urgency
        self.collapseID = collapseID
        self.sound = sound
    }
}

/// A sound by name, never by path.
package enum Sound: Sendable, Equatable {
    /// The person's alert sound of the desktop.
    case standard
    /// A name that passed `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`: looked up in the app's folder, then in the sound theme.
    case named(String)
}

/// What a person did with an alert, or what became of it.
package enum AlertOutcome: Sendable, Equatable {
    /// View, or a click on the body. The token lets the app's window come to the front.
    case view(activationToken: String?)
    /// Close, OK, Escape or the window's own close.
    case dismissed
    /// It left the screen by itself.
    case expired
}

/// Shows alerts somewhere. One thread (the agent's loop).
package protocol AlertPresenter: AnyObject {
    /// Set by the agent before anything is presented.
    var delegate: (any AlertPresenterDelegate)? { get set }
    /// Whether alerts can be shown now (a notification daemon or a terminal is there).
    var isAvailable: Bool { get }
    /// Shows or replaces. The completion says whether it was shown (and whether the sound was left to the caller).
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void)
    /// Takes alerts off the screen.
    func withdraw(entries: [Int64])
}

/// The answer of a presenter.
package enum AlertPresented: Sendable, Equatable {
    /// On the screen. When `playsSound` is false the agent plays the sound itself.
    case shown(playsSound: Bool)
    /// Nothing there to show it: try again when the presenter says that it became available.
    case unavailable(String)
}

/// What a presenter tells the agent.
package protocol AlertPresenterDelegate: AnyObject {
    func alert(_ entry: Int64, ended outcome: AlertOutcome)
    func presenterBecameAvailable()
}

/// Shows numbers on app icons.
package protocol BadgePresenter: AnyObject {
    /// 0 removes the badge.
    func setBadge(_ count: UInt32, appID: String)
}

/// Plays sounds.
package protocol SoundPresenter: AnyObject {
    func play(_ sound: Sound, appID: String, appName: String)
}

/// Opens apps for View.
package protocol AppOpener: AnyObject {
    /// Opens the app once and hands it the notification, a JSON object. The completion gets what went wrong, for
    /// the inbox.
    func open(
        appID: String, notification: [UInt8], activationToken: String?,
        completion: @escaping (Result<Void, AppOpenError>) -> Void)
}

/// Why an app could not be opened, with what to do.
package enum AppOpenError: Error, Sendable, Equatable {
    /// No `APPID.desktop` in the XDG data directories.
    case noDesktopFile(appID: String)
    /// The file has neither DBusActivatable nor Exec.
    case notLaunchable(path: String)
    /// The program or the bus refused.
    case failed(String)
}
