// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The tabs of the main window; a red badge shows the number of new items.
final class TabBar {
    /// The place of the tabs.
    enum Place {
        /// At the bottom of a narrow window, each with its icon above its name.
        case bottom
        /// In the header of a wide window, each with its icon before its name.
        case header
    }

    let widget: Box
    private var buttons: [PanelTab: ToggleButton] = [:]
    private var badges: [PanelTab: Label] = [:]
    private var isShowing = false

    init(_ place: Place, chosen: @escaping (PanelTab) -> Void) {
        widget = Box(tabListWithSpacing: 4).styled("tabs", place == .bottom ? "bottom-tabs" : "header-tabs")
        for tab in PanelTab.allCases {
            let button = place == .bottom ? makeHigh(tab) : makeWide(tab)
            button.onToggled { [weak self, weak button] in
                guard let self, let button, button.isOn, !isShowing else { return }
                chosen(tab)
            }
            if let first = buttons[.notifications] { button.join(first) }
            buttons[tab] = button
            widget.append(button.expanding(across: place == .bottom))
        }
        widget.named(tr("Views"))
    }

    private func makeBadge(of tab: PanelTab) -> Label {
        let badge = Label("", .cut(lines: 1)).centered().styled("badge")
        badge.isVisible = false
        badges[tab] = badge
        return badge
    }

    private func makeWide(_ tab: PanelTab) -> ToggleButton {
        let badge = makeBadge(of: tab).aligned(down: .center)
        let face = Box.row(spacing: 6, Symbol(tab.icon), Label(tab.title, .whole), badge)
        return ToggleButton(tabAround: face.aligned(down: .center), named: tab.title)
    }

    private func makeHigh(_ tab: PanelTab) -> ToggleButton {
        let badge = makeBadge(of: tab).aligned(across: .end, down: .start)
        let icon = Overlay(Symbol(tab.icon, pixels: 20).padded(across: 16, above: 2))
        icon.lay(over: badge)
        icon.aligned(across: .center)
        let face = Box.column(spacing: 1, icon, Label(tab.title, .cut(lines: 1)).centered())
        return ToggleButton(tabAround: face.aligned(down: .center), named: tab.title)
    }

    /// Marks the current tab.
    func show(_ tab: PanelTab) {
        isShowing = true
        for (other, button) in buttons {
            button.isOn = other == tab
            button.setSelected(other == tab)
        }
        isShowing = false
    }

    /// Sets a tab's badge to digits or an ellipsis; nil hides it.
    func setBadge(_ text: String?, of tab: PanelTab) {
        badges[tab]?.setText(text ?? "")
        badges[tab]?.isVisible = text != nil
        let spoken =
            switch text {
            case nil: ""
            case "…"?: tr("new notifications")
            case let count?: Texts.fill(tr("%1 unread"), count)
            }
        buttons[tab]?.named(spoken.isEmpty ? tab.title : "\(tab.title)\(tr(", "))\(spoken)")
    }
}

extension PanelTab {
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
