// SPDX-License-Identifier: Apache-2.0

package import AgentStore
package import PushAPI
package import PushCore

/// An alert as presenters get it.
///
/// Texts are raw: each presenter sanitizes them for its medium.
package struct Alert: Sendable, Equatable {
    /// The number of the inbox entry.
    package var entry: EntryID
    /// The app ID: the name of the .desktop file without `.desktop`.
    package var appID: AppID
    /// The registered app's name: the top line of every alert, never text from a payload.
    package var appName: String
    /// Whether the name is from the .desktop file, from an installed manifest or from the user.
    package var isVerified: Bool
    /// The icon's name or absolute path from the .desktop file; nil if the app has no icon.
    package var icon: String?
    package var title: String?
    package var subtitle: String?
    package var body: String?
    /// The label of View; nil if the alert has a single OK button.
    package var viewLabel: String?
    /// The link that View opens; nil if View opens the app or there is no View.
    package var link: NotificationLink?
    /// The absolute path of a picture that is safe to show; nil for none.
    package var picture: String?
    /// The app's buttons that replace View, in order; empty for an alert with View.
    package var actions: [AppManifest.Action] = []
    /// `interruption-level` mapped: 0 low, 1 normal, 2 critical.
    var urgency: UInt8
    /// The key under which a newer alert of the same app replaces this one on the screen; nil if none does.
    package var collapseID: String?
    /// The key that groups alerts of the same app; nil for no group.
    package var threadID: String?
    /// The number of earlier alerts of the thread that the user has not answered.
    package var earlierCount = 0
    /// The sound of the alert; nil for silence.
    package var sound: Sound?
    /// The style: a banner disappears after a while, an alert stays until it is answered.
    package var style = AlertStyle.alert
    /// Whether a button that mutes the app takes the place of Close.
    var offersMute = false
    /// Whether the alert may be shown in a window that takes the keyboard focus, if it can be shown elsewhere.
    var mayTakeFocus = true

    package init(
        entry: EntryID, appID: AppID, appName: String, isVerified: Bool = true, icon: String? = nil,
        title: String? = nil, subtitle: String? = nil, body: String? = nil, viewLabel: String? = "View",
        urgency: UInt8 = 1, collapseID: String? = nil, sound: Sound? = nil
    ) {
        self.entry = entry
        self.appID = appID
        self.appName = appName
        self.isVerified = isVerified
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
    /// The app's name, or the word *unverified*, the name and the app ID.
    ///
    /// The word comes first, so that no name is long enough to displace it.
    var topLine: String {
        guard !isVerified else { return appName }
        let remark = tr("unverified")
        let isID = appName.utf8.elementsEqual(appID.text.utf8)
        return isID ? "\(remark): \(appID)" : "\(remark): \(appName) (\(appID))"
    }

    /// The button with a text field, where the desktop supports that.
    var replyAction: AppManifest.Action? { actions.first(where: \.takesText) }

    /// Removes all texts but the app's name, for a locked screen.
    mutating func hideTexts() {
        actions = []
        title = nil
        subtitle = nil
        link = nil
        picture = nil
        body = tr("Notification")
        // A button's label is text of the provider, too.
        if viewLabel != nil { viewLabel = "View" }
    }
}
