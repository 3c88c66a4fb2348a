// SPDX-License-Identifier: Apache-2.0

/// The style sheet of the panel's windows.
///
/// Red is only used for badges and for buttons that destroy something.
enum PanelStyle {
    /// Returns the style sheet for a dark or a light desktop.
    static func sheet(isDark: Bool) -> String { colors(isDark: isDark) + text }

    /// Returns the definitions of the colors of texts, which must be readable on a dark or light background.
    ///
    /// libadwaita's accent color has a contrast of only 4.0 to 1 on a light header bar.
    private static func colors(isDark: Bool) -> String {
        """
        @define-color sheet_red \(isDark ? "#ff7b7b" : "#c01c28");
        @define-color tab_accent \(isDark ? "#78aeed" : "#1a5fb4");

        """
    }

    private static let text = """
        .touch { min-width: 44px; min-height: 44px; padding: 0; }
        headerbar { min-height: 58px; }
        .crowded headerbar .title { font-size: 0.85em; }
        .crowded headerbar .text-button { padding: 0 4px; }
        .caption { font-size: 0.82em; }
        .dim-label, row label.subtitle, entry > text > placeholder { opacity: 0.75; }
        row label:disabled { filter: none; opacity: 0.75; }
        button.suggested-action { background-color: #1c71d8; color: #ffffff; }
        .heading, .body { font-size: 1em; }
        .title-4 { font-size: 1.15em; }
        .text-button { padding: 0 10px; }
        .form-button { min-width: 58px; }
        entry.touch { padding: 0 10px; }
        .badge {
            background-color: #c01c28; color: #ffffff; border-radius: 11px; min-width: 14px; min-height: 22px;
            padding: 0 4px; font-size: 0.8rem; font-weight: bold; font-feature-settings: "tnum";
        }
        .badge.long-badge { font-size: 9px; padding: 0 3px; }
        .app-icon { border-radius: 22%; -gtk-icon-style: regular; }
        .footer { margin: 8px 4px 0 4px; }
        .bottom-tabs { padding: 2px 6px; border-top: 1px solid @borders; background-color: @headerbar_bg_color; }
        .bottom-tabs button { min-height: 46px; padding: 2px 8px; }
        .header-tabs button { min-height: 44px; padding: 0 12px; }
        .tabs button { border-radius: 9px; background: none; font-weight: normal; }
        .tabs button:hover { background: alpha(currentColor, 0.07); }
        .tabs button:checked { color: @tab_accent; }
        .bottom-tabs button label { font-size: 0.8rem; }
        .tabs button:checked label { font-weight: bold; }
        .tabs .badge { min-height: 17px; min-width: 11px; border-radius: 9px; font-size: 0.72rem; color: #ffffff; }
        .sheet-shade { background-color: rgba(0, 0, 0, 0.35); }
        .sheet { background-color: @headerbar_bg_color; padding: 10px; border-radius: 14px 14px 0 0; }
        .sheet button { min-height: 46px; font-weight: normal; }
        .sheet button.destroys { color: @sheet_red; font-weight: bold; }
        .sheet button.cancels { font-weight: bold; }
        .destroys-text { color: @sheet_red; }
        .tile { padding: 8px 4px; border-radius: 12px; }
        .tile label.name { font-size: 0.9rem; font-weight: normal; }
        .inbox { background: none; }
        .inbox > row { padding: 0; }
        .inbox > row, .inbox > row:hover, .inbox > row:active { background: none; }
        .inbox > row:hover .entry-row { background-color: mix(@card_bg_color, currentColor, 0.04); }
        .entry-row {
            padding: 4px 12px; min-height: 56px; margin: 0 12px; background-color: @card_bg_color;
            border: 1px solid @card_shade_color; border-top-width: 0;
        }
        .entry-row.expanded { padding-top: 12px; padding-bottom: 12px; }
        .inbox > row:focus-visible { outline: none; }
        .inbox > row:focus-visible .entry-row, .inbox > row:focus-visible .section-row {
            outline: 2px solid alpha(@accent_color, 0.7); outline-offset: -2px;
        }
        .entry-row.first { border-top-width: 1px; border-radius: 12px 12px 0 0; }
        .entry-row.last { border-radius: 0 0 12px 12px; }
        .entry-row.first.last { border-radius: 12px; }
        .entry-row .dot { background-color: @accent_bg_color; border-radius: 5px; min-width: 10px; min-height: 10px; }
        .entry-row .unread-title { font-weight: bold; }
        .section-row { padding: 10px 16px 2px 16px; min-height: 44px; }
        .section-row .heading { font-weight: bold; }
        .section-row button.muted { background-color: @accent_bg_color; color: @accent_fg_color; }
        .unread-count { background-color: alpha(currentColor, 0.12); border-radius: 9px; padding: 1px 7px; }
        .clear-button { min-width: 76px; min-height: 48px; background: #c01c28; color: #ffffff; }
        .notice { background-color: alpha(@warning_bg_color, 0.25); padding: 4px 6px 4px 12px; }
        .status-line { min-height: 44px; padding: 0 12px; border-radius: 9px; font-weight: normal; }
        .status-line .line-action { color: @accent_color; font-weight: bold; }
        row:disabled .app-icon, row:disabled image { opacity: 0.5; }
        .day { border-radius: 9px; }
        .unverified { color: @warning_color; }
        .offer { padding: 0 8px; margin-left: -8px; color: @accent_color; }
        .day:checked { background-color: @accent_bg_color; color: @accent_fg_color; }
        .progress-line { padding: 4px 12px; border-top: 1px solid @borders; }
        .filter button { min-height: 44px; min-width: 44px; padding: 0 8px; font-weight: normal; }
        .filter button:checked { font-weight: bold; }
        searchbar, .search entry, entry.search { min-height: 44px; }
        spinbutton.vertical { margin: 8px 0; }
        spinbutton.vertical > text { min-width: 52px; min-height: 38px; }
        spinbutton.vertical > button { min-width: 52px; min-height: 44px; padding: 0; }
        windowcontrols { border-spacing: 0; }
        windowcontrols > button { min-width: 44px; min-height: 44px; padding: 0; margin: 0; }
        windowcontrols > button, windowcontrols > button:hover, windowcontrols > button:active { background: none; }
        windowcontrols > button > image {
            margin: 10px; padding: 4px; border-radius: 12px; background-color: alpha(currentColor, 0.1);
        }
        windowcontrols > button:hover > image { background-color: alpha(currentColor, 0.15); }
        windowcontrols > button:active > image { background-color: alpha(currentColor, 0.3); }
        .compact preferencespage > scrolledwindow > viewport > clamp > box { margin: 12px; border-spacing: 12px; }
        .compact preferencespage row > box.header { min-height: 44px; }
        .back { min-width: 44px; padding: 0 8px; }
        .value-name { color: @accent_color; font-size: 0.9rem; }
        .alert { background-color: @dialog_bg_color; color: @dialog_fg_color; border-radius: 14px; }
        .alert-window { border-radius: 14px; }
        .solid-csd { padding: 0; box-shadow: none; }
        .alert-window.solid-csd, .alert-window.solid-csd .alert { border-radius: 0; }
        .alert-window.solid-csd .alert { border: 1px solid alpha(currentColor, 0.25); }
        .alert .app-name { font-size: 0.95rem; }
        .alert .alert-title { font-size: 1.15rem; font-weight: bold; }
        .alert .answers { transition: opacity 150ms ease-out; }
        .alert .answers.waiting { opacity: 0.45; }
        .alert scrolledwindow > scrollbar.vertical { background: none; border: none; box-shadow: none; }
        .alert undershoot.top { background: linear-gradient(to bottom, alpha(currentColor, 0.15), transparent 12px); }
        .alert undershoot.bottom { background: linear-gradient(to top, alpha(currentColor, 0.15), transparent 12px); }
        .alert button { min-height: 44px; border-radius: 9px; font-weight: bold; }
        .alert button.flat { font-weight: normal; }
        .alert button:focus-visible, .alert scrolledwindow:focus-visible {
            outline: 2px solid @accent_color; outline-offset: 2px;
        }
        .alert button.dark { background-color: #5e5c64; color: #ffffff; box-shadow: none; }
        .alert button.dark:hover { background-color: #6b6972; }
        .alert button.light {
            background-color: #ffffff; color: #241f31; box-shadow: inset 0 0 0 1px rgba(0, 0, 0, 0.18);
        }
        .alert button.light:hover { background-color: #f2f1f4; }
        """
}
