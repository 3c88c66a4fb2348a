// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushCore
internal import PushDBus

/// A cache of the agent's state; it queries the agent again after a change signal or a restart of the agent.
///
/// The panel has no state of its own: the screen shows the content of this cache.
final class AgentStateCache {
    /// Whether the agent runs; `asking` until the first answer.
    enum Presence: Equatable {
        case asking, present
        case absent
    }

    /// A part of the agent's state that can change.
    enum Topic: Hashable {
        case presence, status, apps, inbox, alerts
        /// The settings of an app; those of the user if the app ID is empty.
        case settings(String)
    }

    private(set) var presence = Presence.asking
    private(set) var status: StatusRecord?
    /// The apps, sorted by name.
    private(set) var apps: [AppRecord] = []
    /// The settings by app ID: the user's under the empty ID, and those of each app that was queried.
    private(set) var settings: [String: [SettingRecord]] = [:]
    private(set) var unreadCount: Int?
    /// The number of unread entries by app ID.
    private(set) var unreadCounts: [String: Int] = [:]
    private(set) var alerts: [AlertRecord] = []

    private(set) var agent: AgentProxy?
    private var watchers: [(isAlive: () -> Bool, notify: (Topic) -> Void)] = []
    /// The queries in progress; true if the query must be repeated after its answer.
    private var asking: [Topic: Bool] = [:]
    private var muteTimer: MainLoop.Source?

    /// Connects to the bus without sending a query.
    init() {
        agent = try? AgentProxy(
            onSignal: { [weak self] signal, app in self?.handle(signal, app ?? "") },
            onOwner: { [weak self] in self?.note(isThere: $0) })
        if agent == nil { presence = .absent }
    }

    /// Notifies a watcher of each change for as long as the watcher lives; does not retain it.
    func watch<Watcher: AnyObject>(_ watcher: Watcher, _ body: @escaping (Watcher, Topic) -> Void) {
        watchers.append(
            (
                { [weak watcher] in watcher != nil },
                { [weak watcher] topic in
                    if let watcher { body(watcher, topic) }
                }
            ))
    }

    /// Queries everything that the main window shows; the bus starts the agent if it does not run.
    func askAll() {
        for topic in [Topic.status, .apps, .settings("")] + settings.keys.map({ .settings($0) }) { ask(topic) }
        ask(.inbox)
    }

    func app(_ id: String) -> AppRecord? { apps.first { $0.appID == id } }

    /// Returns a setting; nil while it is unknown.
    func setting(_ name: String, of appID: String = "", event: String = "") -> SettingRecord? {
        settings[appID]?.first { $0.name == name && $0.event == event }
    }

    // MARK: Changes

    private func handle(_ signal: AgentSignal, _ appID: String) {
        switch signal {
        case .settingsChanged:
            ask(.settings(""))
            ask(.apps)
            if appID.isEmpty {
                for known in settings.keys where !known.isEmpty { ask(.settings(known)) }
            } else if settings[appID] != nil {
                ask(.settings(appID))
            }
        case .inboxChanged, .notificationArrived: ask(.inbox)
        case .badgeChanged, .tokenChanged: ask(.apps)
        case .statusChanged: ask(.status)
        case .alertsChanged: ask(.alerts)
        // The panel shows no channels.
        case .subscriptionEnded: break
        }
    }

    private func note(isThere: Bool) {
        if isThere {
            askAll()
            ask(.alerts)
        } else {
            unreadCount = nil
            set(.absent)
            // The query lets the bus start the agent, unless systemd has already restarted it.
            MainLoop.after(milliseconds: 1500) { [weak self] in
                if self?.presence == .absent { self?.askAll() }
            }
        }
    }

    private func set(_ presence: Presence) {
        guard presence != self.presence else { return }
        self.presence = presence
        notifyWatchers(.presence)
    }

    private func notifyWatchers(_ topic: Topic) {
        watchers.removeAll { !$0.isAlive() }
        for watcher in watchers { watcher.notify(topic) }
    }

    /// Notifies the watchers without a change, because a widget shows a value that the agent refused.
    func notifyWatchersAgain(_ topic: Topic) { notifyWatchers(topic) }

    // MARK: Queries

    /// Sends a query; if the same query is in progress, repeats it after the answer.
    func ask(_ topic: Topic) {
        guard asking[topic] == nil else {
            asking[topic] = true
            return
        }
        asking[topic] = false
        let (method, arguments) = Self.question(topic)
        guard let agent else { return }
        agent.call(method, arguments) { [weak self] answer in self?.take(answer, topic) }
    }

    private static func question(_ topic: Topic) -> (AgentMethod, [BusValue]) {
        switch topic {
        case .presence, .status: (.getStatus, [])
        case .apps: (.listApps, [])
        case .inbox: (.countInbox, [])
        case .alerts: (.listAlerts, [])
        case .settings(let appID): (.listSettings, [.text(appID)])
        }
    }

    private func take(_ answer: Result<[BusValue], BusError>, _ topic: Topic) {
        let isToBeAskedAgain = asking.removeValue(forKey: topic) ?? false
        switch answer {
        case .success(let values):
            if presence != .present { set(.present) }
            if keep(values, topic) { notifyWatchers(topic) }
            if topic == .apps { awaitEndOfMute() }
        case .failure(let error): fail(error, topic)
        }
        if isToBeAskedAgain { ask(topic) }
    }

    /// Notifies the watchers of the apps when the next mute ends, which the agent does not announce.
    private func awaitEndOfMute() {
        muteTimer?.cancel()
        let now = Timestamp.now
        muteTimer = apps.compactMap(\.mutedUntil).filter { $0 > now }.min().map { end in
            let seconds = min(end.unixSeconds - now.unixSeconds + 1, 86_400)
            return MainLoop.after(milliseconds: UInt32(seconds) * 1000) { [weak self] in
                self?.muteTimer = nil
                self?.notifyWatchers(.apps)
                self?.awaitEndOfMute()
            }
        }
    }

    private func fail(_ error: BusError, _ topic: Topic) {
        if case .settings(let appID) = topic, error.isOfAgent {
            // The app was unregistered.
            if settings.removeValue(forKey: appID) != nil { notifyWatchers(topic) }
        } else if !error.isOfAgent {
            set(.absent)
        }
    }

    /// Stores an answer; returns false if nothing changed.
    private func keep(_ values: [BusValue], _ topic: Topic) -> Bool {
        let first = values.first ?? .dictionary([])
        let items = first.arrayValue ?? []
        switch topic {
        case .presence, .status: return replace(\.status, StatusRecord(first))
        case .apps: return replace(\.apps, items.map(AppRecord.init).sorted(by: AppOrder.precedes))
        case .inbox:
            unreadCount = first.integerValue.map { Int(clamping: $0) }
            let counts = (values.last?.dictionaryPairs ?? []).map { ($0, Int(clamping: $1.integerValue ?? 0)) }
            unreadCounts = Dictionary(counts, uniquingKeysWith: +)
            // Always report a change: the count may be the same for different entries.
            return true
        case .alerts:
            alerts = items.map(AlertRecord.init)
            // Always report a change: `AlertWindowController` confirms to the agent that it received the list.
            return true
        case .settings(let appID): return replace(\.settings[appID], items.map(SettingRecord.init))
        }
    }

    private func replace<Value: Equatable>(_ path: ReferenceWritableKeyPath<AgentStateCache, Value>, _ value: Value)
        -> Bool
    {
        guard self[keyPath: path] != value else { return false }
        self[keyPath: path] = value
        return true
    }
}
