// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit
internal import PushCore

extension MainWindow {
    /// The items of the menu that are about the program.
    var menu: [MenuButton.Item] {
        [
            (title: tr("Keyboard Shortcuts"), action: "win.shortcuts"),
            (title: tr("About Posthorn"), action: "win.about"),
        ]
    }

    func showAbout() {
        let about = AboutWindow(
            of: application, name: Self.title, version: ProductVersion.text,
            comment: tr("Push notifications from your own server."))
        about.setOwner(window)
        about.present()
    }

    func showShortcuts() {
        typealias Shortcut = ShortcutsWindow.Shortcut
        let shortcuts = ShortcutsWindow([
            ShortcutsWindow.Group(
                tr("Window"),
                [
                    Shortcut("<Control>1", tr("Show notifications")), Shortcut("<Control>2", tr("Show apps")),
                    Shortcut("<Control>3", tr("Show settings")), Shortcut("<Alt>Left Escape", tr("Go back")),
                    Shortcut("F5", tr("Refresh")), Shortcut("<Control>w", tr("Close the window")),
                ]),
            ShortcutsWindow.Group(
                tr("Notifications"),
                [
                    Shortcut("<Control>f", tr("Search")), Shortcut("Return", tr("Open in the app")),
                    Shortcut("<Alt>Return", tr("Show details")), Shortcut("Delete", tr("Clear")),
                    Shortcut("plus", tr("Show the whole text, or expand an app")),
                    Shortcut("minus", tr("Show less text, or collapse an app")),
                ]),
        ])
        shortcuts.setOwner(window)
        shortcuts.present()
    }
}
