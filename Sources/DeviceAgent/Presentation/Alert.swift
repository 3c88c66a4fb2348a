// SPDX-License-Identifier: Apache-2.0

package import PushCore

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
    /// Buttons of the app in the place of View, in order; none for an alert that has View.
    package var actions: [AppManifest.Action] = []
    /// `interruption-level` mapped: 0 low, 1 normal, 2 critical.
    package var urgency: UInt8
    /// Replaces the alert with the same key of the same app that is on the screen.
    package var collapseID: String?
    /// What groups it with other alerts of the same app; nil for nothing.
    package var threadID: String?
    /// How many alerts of its thread came before it and are unanswered.
    package var earlierCount = 0
    /// The sound that goes with it; nil for silence.
    package var sound: Sound?
    /// A banner goes by itself, an alert stays until it is answered.
    package var style = AlertStyle.alert
    /// Whether it may come as a window that takes the keyboard, where there is another place for it.
    package var mayTakeFocus = true

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

extension Alert {
    /// The button in which a person types, where the desktop can.
    package var replyAction: AppManifest.Action? { actions.first(where: \.takesText) }

    /// Leaves only whose it is, for a screen that anybody may see.
    package mutating func hideTexts() {
        actions = []
        title = nil
        subtitle = nil
        body = tr("Notification")
        // A button's label is the provider's text, too.
        if viewLabel != nil { viewLabel = "View" }
    }
}

/// A sound by name, never by path.
package enum Sound: Sendable, Equatable {
    /// The person's alert sound of the desktop.
    case standard
    /// A name that passed `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`: looked up in the app's folder, then in the sound theme.
    case named(String)
}
