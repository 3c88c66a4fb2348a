// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The mark beside a name that an app gave itself, and that no installed app and no user confirmed.
final class UnverifiedMark {
    let widget = Label("", .cut(lines: 1)).styled("unverified", "caption")

    /// The word after the name.
    static var text: String { tr("unverified") }

    /// Returns the meaning of the mark.
    static func explanation(_ appID: String) -> String {
        Texts.fill(tr("The program %1 chose this name itself. It is not an installed app."), appID)
    }

    /// Shows the mark with the app's ID as its tooltip, or hides it.
    func show(_ isUnverified: Bool, appID: String) {
        widget.setText(Self.text)
        widget.hinted(Self.explanation(appID))
        widget.isVisible = isUnverified
    }
}
