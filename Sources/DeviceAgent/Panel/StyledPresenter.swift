// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore

/// Shows alerts in the panel and banners at the notification server.
///
/// The notification server also shows alerts that no panel accepts, and those that may not take the keyboard focus.
final class StyledPresenter: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)? {
        didSet {
            panel.delegate = delegate
            desktop.delegate = delegate
        }
    }
    weak var muter: (any AppMuter)? {
        didSet { desktop.muter = muter }
    }
    private let panel: PanelAlerts
    private let desktop: DesktopPresenter
    /// Alerts that the panel has not fetched yet and that were not withdrawn.
    private var handingOver: Set<EntryID> = []

    init(panel: PanelAlerts, desktop: DesktopPresenter) {
        self.panel = panel
        self.desktop = desktop
        desktop.summaries.list = panel
    }

    var isAvailable: Bool { panel.isAvailable || desktop.isAvailable }

    func isAvailable(for style: AlertStyle) -> Bool {
        style == .alert && panel.isAvailable && panel.hasRoom || desktop.isAvailable
    }

    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        let isForPanel = alert.style == .alert && (alert.mayTakeFocus || !desktop.isAvailable)
        guard isForPanel, panel.isAvailable else { return presentOnDesktop(alert, completion) }
        handingOver.insert(alert.entry)
        panel.present(alert) { [weak self] presented in
            guard let self else { return }
            let isWanted = handingOver.remove(alert.entry) != nil
            switch presented {
            case .unavailable where isWanted: presentOnDesktop(alert, completion)
            case .unavailable: completion(presented)
            case .shown, .summedUp, .inDoubt:
                desktop.withdraw(replacedBy: alert)
                completion(presented)
            }
        }
    }

    private func presentOnDesktop(_ alert: Alert, _ completion: @escaping (AlertPresented) -> Void) {
        desktop.present(alert) { [weak self] presented in
            if case .shown = presented { self?.panel.withdraw(replacedBy: alert) }
            completion(presented)
        }
    }

    func sumUp(_ entries: [EntryID], of app: Alert) { desktop.sumUp(entries, of: app) }

    func withdraw(entries: [EntryID]) {
        handingOver.subtract(entries)
        panel.withdraw(entries: entries)
        desktop.withdraw(entries: entries)
    }

    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {
        desktop.adopt(alerts.filter { !$0.location.isPanel })
        panel.adopt(alerts.filter(\.location.isPanel))
    }
}
