// SPDX-License-Identifier: Apache-2.0

/// The visible state of a program's item in the tray.
package struct TrayContent: Sendable, Equatable {
    /// The name of the program.
    package var title: String
    /// The name of the icon in the icon theme.
    package var iconName: String
    /// The text that is shown while the pointer rests on the item, and that a screen reader reads.
    package var toolTip: String
    /// A short text beside the icon, where the tray supports it; empty for none.
    package var label: String
    /// The items of the menu, from top to bottom; their IDs are unique.
    package var menu: [TrayMenuItem]

    package init(title: String, iconName: String, toolTip: String, label: String, menu: [TrayMenuItem]) {
        self.title = title
        self.iconName = iconName
        self.toolTip = toolTip
        self.label = label
        self.menu = menu
    }
}

/// An item of the tray's menu.
package struct TrayMenuItem: Sendable, Equatable {
    /// The kind of a menu item.
    package enum Kind: Sendable, Equatable {
        case command
        case checkbox(isOn: Bool)
        case separator
    }

    /// A number that stays the same as long as a click on the item has the same effect.
    package var id: Int
    package var kind: Kind
    /// The plain text of the item.
    package var label: String
    package var isEnabled: Bool

    package init(id: Int, kind: Kind = .command, label: String = "", isEnabled: Bool = true) {
        self.id = id
        self.kind = kind
        self.label = label
        self.isEnabled = isEnabled
    }
}
