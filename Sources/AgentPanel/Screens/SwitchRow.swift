// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit

/// A row with a switch that takes effect immediately; its title says what "on" allows.
final class SwitchRow {
    let widget: ActionRow
    private let toggle = Switch()
    private let lock = LockMark()
    private let subtitle: String
    /// Whether the code is setting the switch, so that the change does not come from the user.
    private var isShowing = false

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - title: A description of what "on" allows.
    ///   - subtitle: An explanation; empty for none.
    ///   - changed: Called with the state that the user chose.
    init(_ title: String, subtitle: String = "", changed: @escaping (Bool) -> Void) {
        self.subtitle = subtitle
        widget = ActionRow(title, subtitle: subtitle, switchedBy: toggle)
        widget.addSuffix(lock.widget)
        widget.addSuffix(toggle)
        toggle.onChanged { [weak self] in
            guard let self, !isShowing else { return }
            widget.setChecked(toggle.isOn)
            changed(toggle.isOn)
        }
    }

    /// Shows a state; a locked row cannot be changed.
    func show(_ isOn: Bool, isLocked: Bool = false) {
        isShowing = true
        toggle.isOn = isOn
        isShowing = false
        toggle.isSensitive = !isLocked
        widget.setActivatable(!isLocked)
        widget.setReadAsDisabled(isLocked)
        lock.show(isLocked)
        widget.setSubtitle(isLocked ? LockMark.text : subtitle)
        widget.described(isLocked ? LockMark.text : subtitle)
        widget.setChecked(isOn)
    }

    /// Shows a setting; does nothing while it is unknown.
    func show(_ setting: SettingRecord?) {
        guard let setting else { return }
        show(setting.value == "on", isLocked: setting.isLocked)
    }
}

/// The lock symbol of a setting that the administrator locked.
struct LockMark {
    /// The text beside the symbol.
    static var text: String { tr("Set by your administrator") }

    let widget = Symbol("changes-prevent-symbolic").styled("dim-label")

    init() { widget.isVisible = false }

    func show(_ isLocked: Bool) { widget.isVisible = isLocked }
}
