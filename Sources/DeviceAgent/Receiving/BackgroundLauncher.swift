// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// Decides when apps are woken for `content-available`: one call at a time per app, and a few per hour.
///
/// ```
///   due ──▶ idle, and the hour allows it? ──▶ running ──▶ answered or given up
///                 │ no
///                 └──▶ waits for both; a newer one takes its place
/// ```
///
/// The database has the waiting wakes and the times of the last starts, so the next run of the agent continues with
/// them. A wake that has started is not started again.
final class BackgroundLauncher {
    /// The maximum number of wakes per app within `period`.
    ///
    /// Above it, only the newest wake waits.
    static let perPeriodMax = 3
    /// The sliding period in which `perPeriodMax` applies.
    static let period: Duration = .seconds(3600)

    /// Calls the app, then the completion; returns false and calls nothing if the app must not be woken now.
    var start: ((BackgroundWake, @escaping () -> Void) -> Bool)?

    /// Called with the SQLite error if a wake could not be recorded.
    ///
    /// The wake starts later.
    var onFailure: ((SQLError) -> Void)? {
        get { retry.onFailure }
        set { retry.onFailure = newValue }
    }

    private struct App {
        var isRunning = false
        var waiting: BackgroundWake?
        var recentStarts: [MonotonicTime] = []
        var timer: TimerID?

        var isForgettable: Bool { !isRunning && waiting == nil && recentStarts.isEmpty }
    }

    private let database: AgentDatabase
    private let loop: EventLoop
    private let period: Duration
    private let now: () -> Timestamp
    private let retry: StorageRetry
    private var apps: [AppID: App] = [:]

    /// Creates the queue with the full budget for each app; `resume` restores the used part.
    init(
        _ database: AgentDatabase, loop: EventLoop, period: Duration = BackgroundLauncher.period,
        now: @escaping () -> Timestamp = { .now }
    ) {
        self.database = database
        self.loop = loop
        self.period = period
        self.now = now
        retry = StorageRetry(loop: loop)
        retry.onRetry = { [weak self] in self?.startAll() }
    }

    /// Continues at startup with the wakes that an earlier run of the agent left.
    func resume() throws(SQLError) {
        let now = now()
        for start in try database.wakes.starts(now: now) {
            let ageMilliseconds = max(0, now.milliseconds(since: start.startedAt))
            guard ageMilliseconds < periodMilliseconds else { continue }
            apps[start.appID, default: App()].recentStarts.append(loop.now.advanced(byMilliseconds: -ageMilliseconds))
        }
        for wake in try database.wakes.due() { self.wake(wake) }
    }

    /// Wakes an app now or later, and drops the wake that waits for the same app.
    func wake(_ wake: BackgroundWake) {
        apps[wake.appID, default: App()].waiting = wake
        startNext(wake.appID)
    }

    private var periodMilliseconds: Int64 {
        let (seconds, attoseconds) = period.components
        return max(0, seconds) * 1000 + max(0, attoseconds) / 1_000_000_000_000_000
    }

    private var periodNanoseconds: Int64 { periodMilliseconds * 1_000_000 }

    private func startAll() { for appID in apps.keys.sorted() { startNext(appID) } }

    private func startNext(_ appID: AppID) {
        let now = loop.now
        apps[appID]?.recentStarts.removeAll { now.nanoseconds(since: $0) >= periodNanoseconds }
        guard let app = apps[appID], !app.isRunning, !retry.isWaiting else { return }
        guard let wake = app.waiting else {
            if app.isForgettable { apps[appID] = nil }
            return
        }
        guard app.recentStarts.count < Self.perPeriodMax else { return waitForRoom(appID, app, now) }
        do {
            try begin(wake)
        } catch {
            return retry.failed(error)
        }
        apps[appID]?.waiting = nil
        apps[appID]?.isRunning = true
        apps[appID]?.recentStarts.append(now)
        let isStarted = start?(wake) { [weak self] in self?.ended(appID) } ?? false
        if isStarted { return }
        // A refused wake does not count against the budget.
        apps[appID]?.recentStarts.removeLast()
        retry.write { [weak self] () throws(SQLError) in try self?.database.wakes.forgetLastStart(of: appID) }
        ended(appID)
    }

    /// Records the start before the app is called, so a crash in between loses one call and never repeats one.
    private func begin(_ wake: BackgroundWake) throws(SQLError) {
        try database.transaction { () throws(SQLError) in
            try database.wakes.begin(wake, now: now(), periodMilliseconds: periodMilliseconds)
        }
    }

    private func ended(_ appID: AppID) {
        apps[appID]?.isRunning = false
        startNext(appID)
    }

    private func waitForRoom(_ appID: AppID, _ app: App, _ now: MonotonicTime) {
        guard app.timer == nil, let oldest = app.recentStarts.first else { return }
        let rest = max(0, periodNanoseconds - now.nanoseconds(since: oldest))
        apps[appID]?.timer = loop.schedule(after: .nanoseconds(rest)) { [weak self] in
            self?.apps[appID]?.timer = nil
            self?.startNext(appID)
        }
    }
}
