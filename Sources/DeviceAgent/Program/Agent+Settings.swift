// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite
internal import PushNet

extension Agent {
    /// What a person can switch for an app.
    package enum AppSetting: String, Sendable, CaseIterable {
        case badge, sound, alert
    }

    /// The master switch.
    package func isMasterOn() throws(AgentRefusal) -> Bool {
        try asking { () throws(SQLiteError) in try database.settings.isMasterOn() }
    }

    /// Turns the master switch; what apps may do stays as it is, and badges go and come back at once.
    package func setMaster(_ isOn: Bool) throws(AgentRefusal) {
        try asking { () throws(SQLiteError) in
            try database.settings.set(.master, to: isOn ? 1 : 0)
            try presentBadges()
        }
        agentLog.info("master_switched", ["on": "\(isOn)"])
        observer?.settingsChanged(appID: "")
    }

    /// Allows an app something, or no longer; takes effect at once.
    package func set(_ setting: AppSetting, of appID: String, to isOn: Bool) throws(AgentRefusal) {
        let changed = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in try change(setting, appID, isOn) }
        }
        guard let app = changed else { throw .unknownApp(appID) }
        agentLog.info("app_switched", ["app": appID, "setting": setting.rawValue, "on": "\(isOn)"])
        if setting == .badge { present(badge: shownBadge(of: app), appID: appID) }
        observer?.settingsChanged(appID: appID)
        link?.uplink.setNeedsFlush()
    }

    private func change(_ setting: AppSetting, _ appID: String, _ isOn: Bool) throws(SQLiteError) -> RegisteredApp? {
        guard var app = try database.apps.app(id: appID) else { return nil }
        let refusedAll = app.switches.refusesAll
        switch setting {
        case .badge: app.switches.allowsBadge = isOn
        case .sound: app.switches.allowsSound = isOn
        case .alert: app.switches.allowsAlert = isOn
        }
        try database.apps.setSwitches(app.switches, of: appID)
        if app.switches.refusesAll != refusedAll { try database.settings.set(.isFilterDue, to: 1) }
        return app
    }

    // MARK: Badges

    /// The number that is on an app's icon now.
    package func shownBadge(of app: RegisteredApp) -> UInt32 {
        let isAllowed = app.switches.allowsBadge && (try? database.settings.isMasterOn()) ?? false
        return isAllowed ? app.badge : 0
    }

    /// Puts all numbers on their icons.
    func presentBadges() throws(SQLiteError) {
        for app in try database.apps.all() where app.badge > 0 {
            present(badge: shownBadge(of: app), appID: app.appID)
        }
    }

    func present(badge: UInt32, appID: String) {
        surroundings.badges?.setBadge(badge, appID: appID)
        observer?.badgeChanged(appID: appID, count: badge)
    }
}
