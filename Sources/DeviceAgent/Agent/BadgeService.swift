// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushSQL

/// The numbers on the icons of apps.
package final class BadgeService {
    private let database: AgentDatabase
    private let presenter: (any BadgePresenter)?
    private let changes: ChangeNotifier

    init(_ database: AgentDatabase, _ presenter: (any BadgePresenter)?, _ changes: ChangeNotifier) {
        self.database = database
        self.presenter = presenter
        self.changes = changes
    }

    /// Returns the number that is on an app's icon now.
    func shownBadge(of app: RegisteredApp) -> UInt32 {
        let isMasterOn = (try? database.settings.isOn(.master)) ?? false
        let isAllowed = (try? database.settings.isOn(.badge, at: .app(app))) ?? false
        return isMasterOn && isAllowed ? app.badge : 0
    }

    /// Shows the badges of all apps.
    func presentAll() throws(SQLError) {
        for app in try database.apps.all() where app.badge > 0 { present(shownBadge(of: app), appID: app.appID) }
    }

    /// Shows a number on an app's icon; 0 removes it.
    func present(_ badge: UInt32, appID: AppID) {
        presenter?.setBadge(badge, appID: appID)
        changes.observer?.badgeChanged(appID: appID, count: badge)
    }
}
