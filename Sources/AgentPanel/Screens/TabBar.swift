// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The tabs at the bottom of the main window; a red badge shows the number of new items.
final class TabBar {
    let widget = Box(tabListWithSpacing: 4).styled("tabs")
    private var buttons: [MainWindow.Tab: ToggleButton] = [:]
    private var badges: [MainWindow.Tab: Label] = [:]
    private var isShowing = false

    init(chosen: @escaping (MainWindow.Tab) -> Void) {
        for tab in MainWindow.Tab.allCases {
            let button = make(tab)
            button.onToggled { [weak self, weak button] in
                guard let self, let button, button.isOn, !isShowing else { return }
                chosen(tab)
            }
            if let first = buttons[.notifications] { button.join(first) }
            buttons[tab] = button
            widget.append(button.expanding(across: true))
        }
        widget.named(tr("Views"))
    }

    private func make(_ tab: MainWindow.Tab) -> ToggleButton {
        let badge = Label("", .cut(lines: 1)).centered().styled("badge").aligned(across: .end, down: .start)
        badge.isVisible = false
        badges[tab] = badge
        let icon = Overlay(Symbol(tab.icon, pixels: 20).padded(across: 16, above: 2))
        icon.lay(over: badge)
        icon.aligned(across: .center)
        let face = Box.column(spacing: 1, icon, Label(tab.title, .cut(lines: 1)).centered())
        return ToggleButton(tabAround: face.aligned(down: .center), named: tab.title)
    }

    /// Marks the current tab.
    func show(_ tab: MainWindow.Tab) {
        isShowing = true
        for (other, button) in buttons {
            button.isOn = other == tab
            button.setSelected(other == tab)
        }
        isShowing = false
    }

    /// Sets a tab's badge to digits or an ellipsis; nil hides it.
    func setBadge(_ text: String?, of tab: MainWindow.Tab) {
        badges[tab]?.setText(text ?? "")
        badges[tab]?.isVisible = text != nil
        let spoken =
            switch text {
            case nil: ""
            case "…"?: tr("new ones")
            case let count?: Texts.fill(tr("%1 unread"), count)
            }
        buttons[tab]?.named(spoken.isEmpty ? tab.title : "\(tab.title)\(tr(", "))\(spoken)")
    }
}

extension MainWindow.Tab {
    /// The label of the tab.
    var title: String {
        switch self {
        case .notifications: tr("Notifications")
        case .apps: tr("Apps")
        case .settings: tr("Settings")
        }
    }

    /// The icon of the tab.
    var icon: String {
        switch self {
        case .notifications: "preferences-system-notifications-symbolic"
        case .apps: "view-app-grid-symbolic"
        case .settings: "emblem-system-symbolic"
        }
    }
}
