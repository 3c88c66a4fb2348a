// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import PushNet

/// The agent's item in the tray: the unread count, the newest notifications and Do Not Disturb.
final class TrayService {
    /// The delay after a change of the inbox, once for all changes until then.
    private static let refreshDelay: Duration = .milliseconds(500)
    /// The maximum number of entries that are read to find those with a text.
    private static let searchedCountMax: Int64 = 20

    private let agent: Agent
    private let panel: PanelAlerts
    private let callers: CallerRules
    private var bounds = CallBounds()
    private var tray: Tray?
    private var model = TrayModel(unreadCount: 0, entries: [], quiet: .off, isQuietLocked: false)
    private var isRefreshDue = false

    /// Prepares the item, which is off until `settingsChanged`; nil if the bus refuses the subscription to trays.
    init?(_ agent: Agent, panel: PanelAlerts, on connection: BusConnection, callers: CallerRules) {
        (self.agent, self.panel, self.callers) = (agent, panel, callers)
        do {
            tray = try Tray(
                bus: .session, observing: connection, loop: agent.loop, id: "org.posthorn.Panel", log: agentLog,
                delegate: self)
        } catch {
            agentLog.warning("tray_item_failed", ["error": error.message])
            return nil
        }
    }

    /// Applies the user's own settings.
    func settingsChanged() {
        guard let value = try? agent.settings.setting(Setting.tray.rawValue, appID: nil, event: "") else { return }
        tray?.isOn = value.text.utf8.elementsEqual("on".utf8)
        refresh()
    }

    /// Updates the item after a short delay, so that a burst of notifications causes only one update.
    func inboxChanged() {
        guard !isRefreshDue, tray?.isShown == true else { return }
        isRefreshDue = true
        agent.loop.schedule(after: Self.refreshDelay) { [weak self] in
            self?.isRefreshDue = false
            self?.refresh()
        }
    }

    /// Shows the present state.
    func refresh() { tray?.refresh() }

    // MARK: State

    private func currentModel() throws(AgentRefusal) -> TrayModel {
        let now = Timestamp.now
        let value = try agent.settings.setting(Setting.doNotDisturb.rawValue, appID: nil, event: "")
        let schedule = try agent.settings.setting(Setting.schedule.rawValue, appID: nil, event: "")
        let isScheduled = QuietSchedule(schedule.text)?.contains(LocalClock.time(at: now)) ?? false
        return TrayModel(
            unreadCount: try agent.inbox.unreadCounts().reduce(0) { $0 + $1.count }, entries: try entries(),
            quiet: Self.quiet(DoNotDisturb(value.text) ?? .off, isScheduled: isScheduled, now: now),
            isQuietLocked: value.isLocked)
    }

    private static func quiet(_ value: DoNotDisturb, isScheduled: Bool, now: Timestamp) -> TrayModel.Quiet {
        guard value.holds(at: now) else { return isScheduled ? .scheduled : .off }
        guard case .until(let end) = value, end < now.advanced(bySeconds: 86_400) else { return .on(end: nil) }
        let minute = LocalClock.time(at: end).minute
        let parts = [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return .on(end: parts.joined(separator: ":"))
    }

    private func entries() throws(AgentRefusal) -> [TrayModel.Entry] {
        let isLocked = agent.environment.currentDesktopState().isLocked
        let apps = try agent.registrations.apps()
        var entries: [TrayModel.Entry] = []
        for entry in try agent.inbox.newest(countMax: Self.searchedCountMax) {
            let texts = [entry.title, entry.subtitle, entry.body].compactMap(\.self)
            guard let title = texts.first(where: { !DisplayText.isBlank($0) }) else { continue }
            let app = apps.first { $0.appID == entry.appID }
            var isHidden = isLocked
            if isLocked, let app { isHidden = try !agent.settings.appSettings(of: app).showsPreview }
            entries.append(
                TrayModel.Entry(
                    number: entry.entry, title: isHidden ? nil : title, appName: app?.name ?? entry.topic.text,
                    isVerified: app?.isVerified ?? true))
            if entries.count == TrayModel.entryCountMax { break }
        }
        return entries
    }

    // MARK: Commands

    private func run(_ command: TrayModel.Command, activationToken: String?) throws(AgentRefusal) {
        switch command {
        case .openList: panel.open(activationToken: activationToken)
        case .markAllRead: _ = try agent.inbox.markRead(nil, appID: nil)
        case .toggleQuiet:
            let value = model.quiet == .off ? DoNotDisturb.on : .off
            try agent.settings.set(Setting.doNotDisturb.rawValue, appID: nil, event: "", to: value.text)
        case .open(let number):
            agent.loop.startTask { [agent, panel] in
                do throws(AgentRefusal) {
                    try await agent.openings.openEntry(number, activationToken: activationToken)
                } catch {
                    // Without an app to open, the list shows the notification.
                    panel.open(activationToken: activationToken)
                }
            }
        }
    }
}

extension TrayService: TrayDelegate {
    package var trayContent: TrayContent {
        do {
            model = try currentModel()
        } catch {
            // The database failed, which was reported; the tray keeps what it shows.
        }
        return model.content
    }

    package func decide(on caller: String, completion: @escaping (Bool) -> Void) {
        guard bounds.begin(caller, at: agent.loop.now) else { return completion(false) }
        callers.decideOnTray(for: caller) { [weak self] isAllowed in
            self?.bounds.end(caller)
            completion(isAllowed)
        }
    }

    package func trayActivated(activationToken: String?) {
        panel.open(activationToken: activationToken.flatMap(AlertOutcome.activationToken))
    }

    package func trayChose(_ id: Int, activationToken: String?) {
        guard let command = model.command(id) else { return }
        do throws(AgentRefusal) {
            try run(command, activationToken: activationToken.flatMap(AlertOutcome.activationToken))
        } catch {
            agentLog.warning("tray_command_failed", ["error": error.message])
        }
    }
}
