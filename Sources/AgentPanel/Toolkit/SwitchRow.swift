// SPDX-License-Identifier: Apache-2.0

/// A row with a switch, which acts at once and says what "on" allows.
final class SwitchRow {
    let widget: Widget
    private let toggle = Widget.toggleSwitch()
    private let lock = LockMark()
    private let subtitle: String
    /// While the row shows what the agent says, its switch is not the person's.
    private var isShowing = false

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - title: What "on" allows.
    ///   - subtitle: What else is to be known; empty for nothing.
    ///   - changed: Gets what the person wants.
    init(_ title: String, subtitle: String = "", changed: @escaping (Bool) -> Void) {
        self.subtitle = subtitle
        widget = .actionRow(title, subtitle: subtitle)
        widget.addSuffix(lock.widget)
        widget.addSuffix(toggle)
        // That names it, too.
        widget.setActivates(toggle)
        Signals.connectProperty(toggle, "active") { [weak self] in
            guard let self, !isShowing else { return }
            changed(toggle.isOn)
        }
    }

    /// Shows what holds.
    func show(_ isOn: Bool, isLocked: Bool = false) {
        isShowing = true
        toggle.isOn = isOn
        isShowing = false
        toggle.isSensitive = !isLocked
        widget.setActivatable(!isLocked)
        lock.show(isLocked)
        widget.setRowSubtitle(isLocked ? LockMark.text : subtitle)
        toggle.described(isLocked ? LockMark.text : subtitle)
    }

    /// Shows what a setting says; nothing while it is not known.
    func show(_ setting: SettingFacts?) {
        guard let setting else { return }
        show(setting.value == "on", isLocked: setting.isLocked)
    }
}

/// The sign of what the administrator decided.
struct LockMark {
    /// What stands beside it.
    static var text: String { tr("Set by your administrator") }

    let widget = Widget.symbol("changes-prevent-symbolic").styled("dim-label")

    init() { widget.isVisible = false }

    func show(_ isLocked: Bool) { widget.isVisible = isLocked }
}
