// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// What the agent said last; asks again when it signals a change and when it comes back.
///
/// The panel holds no state of its own: what is on the screen is what is here.
final class AgentMirror {
    /// Whether there is somebody to ask.
    enum Presence: Equatable {
        case asking, present
        case absent
    }

    /// What changed.
    enum Topic: Hashable {
        case presence, status, apps, inbox, alerts
        /// Of an app, or of the person when it is empty.
        case settings(String)
    }

    private(set) var presence = Presence.asking
    private(set) var status: StatusFacts?
    /// By name.
    private(set) var apps: [AppFacts] = []
    /// Of the person under the empty id, and of each app of which somebody asked.
    private(set) var settings: [String: [SettingFacts]] = [:]
    private(set) var unseenCount: Int?
    /// By app.
    private(set) var unseenCounts: [String: Int] = [:]
    private(set) var alerts: [AlertFacts] = []

    private(set) var agent: AgentProxy?
    private var watchers: [(isAlive: () -> Bool, tell: (Topic) -> Void)] = []
    /// Questions that are under way, and whether each must be asked again.
    private var asking: [Topic: Bool] = [:]

    /// Connects; asks nothing yet.
    init() {
        agent = try? AgentProxy(
            onSignal: { [weak self] signal, app in self?.hear(signal, app ?? "") },
            onOwner: { [weak self] in self?.note(isThere: $0) })
        if agent == nil { presence = .absent }
    }

    /// Tells an object of each change, for as long as the object lives.
    func watch<Watcher: AnyObject>(_ watcher: Watcher, _ body: @escaping (Watcher, Topic) -> Void) {
        watchers.append(
            (
                { [weak watcher] in watcher != nil },
                { [weak watcher] topic in
                    if let watcher { body(watcher, topic) }
                }
            ))
    }

    /// Asks everything that the main window shows; the bus starts an agent that does not run.
    func askAll() {
        for topic in [Topic.status, .apps, .settings("")] + settings.keys.map({ .settings($0) }) { ask(topic) }
        ask(.inbox)
    }

    /// An app by its id.
    func app(_ id: String) -> AppFacts? { apps.first { $0.id == id } }

    /// What holds; nil while it is not known.
    func setting(_ name: String, of appID: String = "", event: String = "") -> SettingFacts? {
        settings[appID]?.first { $0.name == name && $0.event == event }
    }

    // MARK: Changes

    private func hear(_ signal: AgentProxy.Signal, _ appID: String) {
        switch signal {
        case .settings:
            ask(.settings(""))
            ask(.apps)
            if appID.isEmpty {
                for known in settings.keys where !known.isEmpty { ask(.settings(known)) }
            } else if settings[appID] != nil {
                ask(.settings(appID))
            }
        case .inbox, .arrived: ask(.inbox)
        case .badge, .token: ask(.apps)
        case .status: ask(.status)
        case .alerts: ask(.alerts)
        }
    }

    private func note(isThere: Bool) {
        if isThere {
            askAll()
            ask(.alerts)
        } else {
            unseenCount = nil
            set(.absent)
            // The bus starts it again, or systemd has.
            MainLoop.after(milliseconds: 1500) { [weak self] in
                if self?.presence == .absent { self?.askAll() }
            }
        }
    }

    private func set(_ presence: Presence) {
        guard presence != self.presence else { return }
        self.presence = presence
        tell(.presence)
    }

    private func tell(_ topic: Topic) {
        watchers.removeAll { !$0.isAlive() }
        for watcher in watchers { watcher.tell(topic) }
    }

    /// Tells what is known once more, because something on the screen says otherwise.
    func tellAgain(_ topic: Topic) { tell(topic) }

    // MARK: Questions

    /// Asks one thing; when it is asked already, once more after that.
    func ask(_ topic: Topic) {
        guard asking[topic] == nil else {
            asking[topic] = true
            return
        }
        asking[topic] = false
        let (member, arguments) = Self.question(topic)
        guard let agent else { return }
        agent.call(member, arguments) { [weak self] answer in self?.take(answer, topic) }
    }

    private static func question(_ topic: Topic) -> (String, [BusValue]) {
        switch topic {
        case .presence, .status: ("GetStatus", [])
        case .apps: ("ListApps", [])
        case .inbox: ("CountInbox", [])
        case .alerts: ("ListAlerts", [])
        case .settings(let appID): ("ListSettings", [.text(appID)])
        }
    }

    private func take(_ answer: Result<[BusValue], BusError>, _ topic: Topic) {
        let isToBeAskedAgain = asking.removeValue(forKey: topic) ?? false
        switch answer {
        case .success(let values):
            if presence != .present { set(.present) }
            if keep(values, topic) { tell(topic) }
        case .failure(let error): fail(error, topic)
        }
        if isToBeAskedAgain { ask(topic) }
    }

    private func fail(_ error: BusError, _ topic: Topic) {
        if case .settings(let appID) = topic, error.name.hasPrefix("org.posthorn.Error.") {
            // The app is gone.
            if settings.removeValue(forKey: appID) != nil { tell(topic) }
        } else if !error.name.hasPrefix("org.posthorn.Error.") {
            set(.absent)
        }
    }

    /// Keeps an answer; false when it is what is known already.
    private func keep(_ values: [BusValue], _ topic: Topic) -> Bool {
        let first = values.first ?? .dictionary([])
        let items = first.arrayValue ?? []
        switch topic {
        case .presence, .status: return replace(\.status, StatusFacts(first))
        case .apps: return replace(\.apps, items.map(AppFacts.init).sorted(by: AppOrder.precedes))
        case .inbox:
            unseenCount = first.integerValue.map { Int(clamping: $0) }
            let counts = (values.last?.dictionaryPairs ?? []).map { ($0, Int(clamping: $1.integerValue ?? 0)) }
            unseenCounts = Dictionary(counts, uniquingKeysWith: +)
            // The same count may be of other entries.
            return true
        case .alerts:
            alerts = items.map(AlertFacts.init)
            // Told even when they are the same: who shows them tells the agent so.
            return true
        case .settings(let appID): return replace(\.settings[appID], items.map(SettingFacts.init))
        }
    }

    private func replace<Value: Equatable>(_ path: ReferenceWritableKeyPath<AgentMirror, Value>, _ value: Value) -> Bool
    {
        guard self[keyPath: path] != value else { return false }
        self[keyPath: path] = value
        return true
    }
}
