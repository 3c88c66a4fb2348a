// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// Decides when apps are woken for `content-available`: each one call at a time, and a few in an hour.
///
/// ```
///   due ──▶ idle, and the hour has room? ──▶ running ──▶ answered or given up
///                 │ no
///                 └──▶ waits for both; a newer one takes its place
/// ```
package final class BackgroundWakes {
    /// Wakes of one app that begin within the period; the newest after them waits.
    package static let perPeriodMax = 3
    /// The period.
    package static let period: Duration = .seconds(3600)

    /// A notification that is to wake an app.
    package struct Wake: Sendable, Equatable {
        /// The app.
        package var appID: String
        /// The inbox's number of the notification.
        package var entry: Int64

        /// Joins the two.
        package init(appID: String, entry: Int64) {
            self.appID = appID
            self.entry = entry
        }
    }

    /// Calls the app and then the completion; answers false, and calls nothing, when the app is not to be woken now.
    package var start: ((Wake, @escaping () -> Void) -> Bool)?

    private struct App {
        var isRunning = false
        var waiting: Wake?
        var recentStarts: [UInt64] = []
        var timer: TimerID?

        var isForgettable: Bool { !isRunning && waiting == nil && recentStarts.isEmpty }
    }

    private let loop: EventLoop
    private let periodNanoseconds: UInt64
    private var apps: [String: App] = [:]

    /// Begins with a whole budget for each app.
    package init(loop: EventLoop, period: Duration = BackgroundWakes.period) {
        self.loop = loop
        let (seconds, attoseconds) = period.components
        periodNanoseconds = UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }

    /// Wakes an app now or later; what waited for the same app is given up.
    package func wake(_ wake: Wake) {
        apps[wake.appID, default: App()].waiting = wake
        startNext(wake.appID)
    }

    private func startNext(_ appID: String) {
        let now = loop.monotonicNanoseconds
        apps[appID]?.recentStarts.removeAll { now &- $0 >= periodNanoseconds }
        guard let app = apps[appID], !app.isRunning else { return }
        guard let wake = app.waiting else {
            if app.isForgettable { apps[appID] = nil }
            return
        }
        guard app.recentStarts.count < Self.perPeriodMax else { return waitForRoom(appID, app, now) }
        apps[appID]?.waiting = nil
        apps[appID]?.isRunning = true
        apps[appID]?.recentStarts.append(now)
        let isStarted = start?(wake) { [weak self] in self?.ended(appID) } ?? false
        if isStarted { return }
        // It costs nothing of the budget.
        apps[appID]?.recentStarts.removeLast()
        ended(appID)
    }

    private func ended(_ appID: String) {
        apps[appID]?.isRunning = false
        startNext(appID)
    }

    private func waitForRoom(_ appID: String, _ app: App, _ now: UInt64) {
        guard app.timer == nil, let oldest = app.recentStarts.first else { return }
        let rest = periodNanoseconds - min(periodNanoseconds, now &- oldest)
        apps[appID]?.timer = loop.schedule(after: .nanoseconds(Int64(clamping: rest))) { [weak self] in
            self?.apps[appID]?.timer = nil
            self?.startNext(appID)
        }
    }
}
