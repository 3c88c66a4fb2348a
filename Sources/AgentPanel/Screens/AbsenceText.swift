// SPDX-License-Identifier: Apache-2.0

/// What stands on a view about which the agent has said nothing yet.
enum AbsenceText {
    /// A page that says nothing so far.
    static func page() -> Widget { .statusPage(icon: "", title: "", description: "") }

    /// Says why there is nothing.
    static func show(on page: Widget, _ presence: AgentMirror.Presence) {
        switch presence {
        case .asking, .present: page.setStatus(icon: "", title: tr("Loading…"), description: "")
        case .absent:
            let text = EmptyInboxText(
                isSearching: false, filter: .all, isSwitchedOff: false, isPaired: true, hasAgent: false)
            page.setStatus(icon: text.icon, title: text.title, description: text.advice)
        }
    }
}
