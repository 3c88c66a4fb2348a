// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The placeholder of a view while the agent has not yet sent any data.
enum AbsenceText {
    /// Creates an empty status page.
    static func page() -> StatusPage { StatusPage() }

    /// Shows on the page that data is loading or that the agent does not run.
    static func show(on page: StatusPage, _ presence: AgentStateCache.Presence) {
        switch presence {
        case .asking, .present: page.show(icon: "", title: tr("Loading…"), description: "")
        case .absent:
            let text = EmptyInboxText(
                isSearching: false, filter: .all, isSwitchedOff: false, isPaired: true, hasAgent: false)
            page.show(icon: text.icon, title: text.title, description: text.advice)
        }
    }
}
