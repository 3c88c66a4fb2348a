// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import PushNet
internal import PushSQL

/// One banner per app that counts its further notifications in a burst, so that a burst does not cover the screen.
///
/// ```
/// banner, banner, banner ──the next within `burstDuration`──▶ "2 more" ──in place──▶ "19 more" ──left──▶ 0
/// ```
///
/// The notifications that a summary counts remain unread in the inbox. The summary leaves the screen with the last of
/// them that is removed.
final class SummaryBanners {
    /// The number of banners of one app that may appear within `burstDuration`.
    static let bannerCountMax = 3
    /// The time for which a banner counts.
    static let burstDuration: Duration = .seconds(10)
    /// The time for which further notifications are collected before a summary is updated.
    static let updateDelay: Duration = .milliseconds(500)
    /// The maximum number of entries that a summary remembers; those beyond it are only counted.
    private static let entryCountMax = 1000
    /// The maximum number of apps whose banners are counted.
    private static let appCountMax = 256
    /// The number of refusals by the notification server after which a summary is given up.
    private static let refusalCountMax = 5

    private struct Summary {
        /// The newest alert that the summary counts, with the app's name and icon.
        var app: Alert
        /// The counted entries that the inbox still has.
        var entries: Set<EntryID> = []
        var count = 0
        /// The notification server's ID of the banner; 0 until it is on the screen.
        var id: UInt32 = 0
        /// Whether an update is due or on its way.
        var isUpdating = false
        /// The timer of an update that is due.
        var timer: TimerID?
        var refusalCount = 0
        var activationToken: String?
    }

    /// Opens the user's list of notifications.
    weak var list: (any NotificationList)?
    /// Mutes the app of a summary.
    weak var muter: (any AppMuter)?
    private let loop: EventLoop
    private let show: (Alert, UInt32, @escaping (Result<UInt32, BusError>) -> Void) -> Void
    private let close: (UInt32) -> Void
    /// The times of the recent banners, by app.
    private var banners: [AppID: [MonotonicTime]] = [:]
    private var summaries: [AppID: Summary] = [:]

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - show: Shows an alert in place of the one with an ID, and returns the ID of the notification server.
    ///   - close: Closes the alert with an ID.
    init(
        loop: EventLoop, show: @escaping (Alert, UInt32, @escaping (Result<UInt32, BusError>) -> Void) -> Void,
        close: @escaping (UInt32) -> Void
    ) {
        self.loop = loop
        self.show = show
        self.close = close
    }

    /// Notes a banner on the screen.
    func noteBanner(of appID: AppID) {
        if banners.count >= Self.appCountMax { banners = banners.filter { !recent($0.value).isEmpty } }
        if banners.count >= Self.appCountMax { banners = [:] }
        banners[appID] = recent(banners[appID] ?? []).suffix(Self.bannerCountMax - 1) + [loop.now]
    }

    /// Returns whether the next banner of an app would be one too many.
    func isBurst(of appID: AppID) -> Bool { recent(banners[appID] ?? []).count >= Self.bannerCountMax }

    private func recent(_ times: [MonotonicTime]) -> [MonotonicTime] {
        times.filter { loop.now < $0.advanced(by: Self.burstDuration) }
    }

    /// Counts entries of an app in its summary.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - app: An alert with the app's ID, name and icon.
    ///   - isUrgent: Whether a new summary does not wait for further entries, so that no entry counts as shown before
    ///     its summary is on its way to the screen.
    func add(_ entries: [EntryID], of app: Alert, isUrgent: Bool = false) {
        var summary = summaries[app.appID] ?? Summary(app: app)
        summary.app = app
        summary.count += entries.count
        summary.entries.formUnion(entries.prefix(max(0, Self.entryCountMax - summary.entries.count)))
        summaries[app.appID] = summary
        if isUrgent, summary.id == 0 { updateNow(app.appID) } else { scheduleUpdate(of: app.appID) }
    }

    private func updateNow(_ appID: AppID) {
        guard summaries[appID]?.isUpdating == false || summaries[appID]?.timer != nil else { return }
        if let timer = summaries[appID]?.timer { loop.cancel(timer) }
        summaries[appID]?.isUpdating = true
        update(appID)
    }

    private func scheduleUpdate(of appID: AppID) {
        guard summaries[appID]?.isUpdating == false else { return }
        summaries[appID]?.isUpdating = true
        summaries[appID]?.timer = loop.schedule(after: Self.updateDelay) { [weak self] in self?.update(appID) }
    }

    private func update(_ appID: AppID) {
        summaries[appID]?.timer = nil
        guard let summary = summaries[appID] else { return }
        show(alert(summary), summary.id) { [weak self] answer in
            guard let self else { return }
            guard var shown = summaries[appID] else {
                // The summary was withdrawn while it was on its way.
                if case .success(let id) = answer, id > 0 { close(id) }
                return
            }
            shown.isUpdating = false
            let isOutdated = shown.count != summary.count
            switch answer {
            case .success(let id): (shown.id, shown.refusalCount) = (id, 0)
            case .failure: shown.refusalCount += 1
            }
            let isRefused = shown.refusalCount > 0
            summaries[appID] = shown.refusalCount < Self.refusalCountMax ? shown : nil
            if isOutdated || isRefused { scheduleUpdate(of: appID) }
        }
    }

    private func alert(_ summary: Summary) -> Alert {
        let count = summary.count
        let text = MessageCatalog.text("%d more notification", "%d more notifications", count: count)
        let canOpen = list?.canOpen ?? false
        var alert = Alert(
            entry: 0, appID: summary.app.appID, appName: summary.app.appName, isVerified: summary.app.isVerified,
            icon: summary.app.icon, subtitle: text.replacing("%d", with: "\(count)"),
            body: canOpen ? nil : tr("To read, run: posthorn inbox"), viewLabel: canOpen ? "View" : nil)
        alert.style = .banner
        alert.offersMute = muter?.canMute(summary.app.appID) ?? false
        return alert
    }

    /// Removes entries that the inbox no longer has; a summary without entries leaves the screen.
    func withdraw(_ entries: Set<EntryID>) {
        for (appID, summary) in summaries where !summary.entries.isDisjoint(with: entries) {
            let rest = summary.entries.subtracting(entries)
            summaries[appID]?.entries = rest
            summaries[appID]?.count -= summary.entries.count - rest.count
            if rest.isEmpty { remove(appID) } else { scheduleUpdate(of: appID) }
        }
    }

    private func remove(_ appID: AppID) {
        guard let summary = summaries.removeValue(forKey: appID), summary.id > 0 else { return }
        close(summary.id)
    }

    /// Forgets all summaries, because their notification server has ended.
    func forgetAll() { (summaries, banners) = ([:], [:]) }

    // MARK: Signals of the notification server

    private func appID(of id: UInt32) -> AppID? { summaries.first { $0.value.id == id }?.key }

    /// Handles the end of a summary; returns whether the ID is that of one.
    func closed(_ id: UInt32) -> Bool {
        guard let appID = appID(of: id) else { return false }
        summaries[appID] = nil
        return true
    }

    /// Keeps the token that precedes a click; returns whether the ID is that of a summary.
    func keepToken(_ token: String, for id: UInt32) -> Bool {
        guard let appID = appID(of: id) else { return false }
        summaries[appID]?.activationToken = token
        return true
    }

    /// Handles a click, which opens the list, mutes the app, or only closes the banner; returns whether the ID is that
    /// of a summary.
    func clicked(_ action: String, on id: UInt32) -> Bool {
        guard let appID = appID(of: id) else { return false }
        let opens = ["default", "view"].contains { action.utf8.elementsEqual($0.utf8) }
        if opens { list?.open(activationToken: summaries[appID]?.activationToken) }
        remove(appID)
        if action.utf8.elementsEqual(DesktopNotification.muteKey.utf8) { muter?.muteForOneHour(appID) }
        return true
    }
}

/// A window with the user's notifications.
protocol NotificationList: AnyObject {
    /// Whether the window can be opened.
    var canOpen: Bool { get }
    /// Opens the window.
    ///
    /// - Parameter activationToken: The token that lets the window come to the front.
    func open(activationToken: String?)
}

extension AgentDatabase {
    /// Returns the entries that would appear as banners, by app.
    func banners(among entries: Set<EntryID>) throws(SQLError) -> [(app: Alert, entries: [EntryID])] {
        var byApp: [AppID: [EntryID]] = [:]
        for number in entries.sorted() {
            guard let entry = try inbox.entry(number) else { continue }
            if entry.effects.split(separator: " ").contains("alert") { byApp[entry.appID, default: []].append(number) }
        }
        var banners: [(app: Alert, entries: [EntryID])] = []
        for (appID, numbers) in byApp {
            guard let app = try apps.app(id: appID), try settings.settings(of: app).alertStyle == .banner else {
                continue
            }
            let alert = Alert(
                entry: 0, appID: appID, appName: app.name, isVerified: app.isVerified, icon: app.icon)
            banners.append((alert, numbers))
        }
        return banners
    }
}
