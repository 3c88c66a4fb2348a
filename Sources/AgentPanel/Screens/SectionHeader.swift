// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The header of an app's notifications in the list, which collapses and expands them.
final class SectionHeader {
    let widget: Box
    /// The button that clears all notifications of the app.
    let clear = Button(tr("Clear")).styled("flat", "touch", "section-clear")
    /// The button that mutes the app for some time.
    let mute = Button(icon: "audio-volume-muted-symbolic", named: tr("Mute")) {}
    private let arrow = Symbol("pan-down-symbolic").styled("dim-label")
    private let icon = Bin()
    private let name = Label("", .cut(lines: 1)).styled("heading")
    private let unverified = UnverifiedMark()
    private let count = Label("", .whole).styled("unread-count", "caption").aligned(down: .center)
    private var shownIcon: [String] = []

    init() {
        unverified.widget.isVisible = false
        let title = Box.row(
            spacing: 10, icon, name, unverified.widget, count, arrow.expanding(across: true).aligned(across: .start))
        let buttons = Box.row(spacing: 10, mute.styled("flat", "circular"), clear).aligned(across: .end)
        widget = Box.row(spacing: 10, title.expanding(across: true), buttons).styled("section-row")
        arrow.unread()
    }

    /// Shows a section, and whether its notifications are listed below it.
    func show(_ section: NotificationRows.Section, isExpanded: Bool) {
        name.setText(section.name)
        unverified.show(section.isUnverified, appID: section.appID)
        count.setText("\(section.unreadCount)")
        count.hinted(Self.news(of: section)).named(Self.news(of: section))
        count.isVisible = section.unreadCount > 0
        arrow.setIcon(isExpanded ? "pan-down-symbolic" : "pan-end-symbolic")
        mute.isVisible = !section.appID.isEmpty
        clear.named(Texts.fill(tr("Clear all notifications of %1"), section.name))
    }

    /// Shows the buttons beside the name, or below it where there is no space beside it.
    func fit(isCrowded: Bool) { widget.turn(isRow: !isCrowded) }

    /// Shows the icon of an app from a theme name or a path.
    func show(icon path: String, of name: String) {
        // The same icon is not loaded again, because that would make it flicker.
        guard shownIcon != [path, name] else { return }
        shownIcon = [path, name]
        icon.setContent(AppIcon.make(path, of: name, pixels: 24))
    }

    /// Shows whether the app is muted.
    ///
    /// - Parameters:
    ///   - state: The text about the mute; nil for an app that is not muted.
    ///   - name: The name of the app.
    func show(mute state: String?, of name: String) {
        mute.hinted(state ?? Texts.fill(tr("Mute %1"), name))
        mute.named(state.map { "\(name)\(tr(", "))\($0)" } ?? Texts.fill(tr("Mute %1"), name))
        mute.setStyle("muted", state != nil)
    }

    /// Returns the accessible name of a section.
    static func name(of section: NotificationRows.Section) -> String {
        [section.name, section.isUnverified ? UnverifiedMark.text : "", news(of: section)].filter { !$0.isEmpty }
            .joined(separator: tr(", "))
    }

    private static func news(of section: NotificationRows.Section) -> String {
        section.unreadCount > 0 ? Texts.fill(tr("%1 unread"), "\(section.unreadCount)") : ""
    }
}
