// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushNet
internal import PushSQLite

extension Agent {
    /// A setting as a person sees it.
    package struct SettingLine: Sendable, Equatable {
        /// The event type that it is for; empty for the app or the person as a whole.
        package var event: String
        /// Which setting.
        package var setting: PersonalSetting
        /// What holds.
        package var value: SettingStore.Value
    }

    /// What holds of all settings of an app and its event types, or of the person when the app id is empty.
    package func settings(appID: String) throws(AgentRefusal) -> [SettingLine] {
        let app = try place(appID: appID, event: "")
        let events = try asking { () throws(SQLiteError) in try database.eventTypes.all(of: appID) }
        var lines: [SettingLine] = []
        for event in [""] + events.map(\.id) {
            var place = app
            place.event = event
            for setting in PersonalSetting.allCases where setting.scopes.contains(place.scope) {
                let value = try asking { () throws(SQLiteError) in
                    try database.settings.value(of: setting, at: place)
                }
                lines.append(SettingLine(event: event, setting: setting, value: value))
            }
        }
        return lines
    }

    /// What an app may do.
    package func appSettings(of app: RegisteredApp) throws(AgentRefusal) -> AppSettings {
        try asking { () throws(SQLiteError) in try database.settings.settings(of: app) }
    }

    /// The kinds of events that an app declared, in its order.
    package func eventTypes(of app: RegisteredApp) throws(AgentRefusal) -> [EventTypeTable.EventType] {
        try asking { () throws(SQLiteError) in try database.eventTypes.all(of: app.appID) }
    }

    /// What holds of one setting.
    package func setting(_ name: String, appID: String, event: String) throws(AgentRefusal) -> SettingStore.Value {
        let place = try place(appID: appID, event: event)
        let setting = try setting(name, for: place)
        return try asking { () throws(SQLiteError) in try database.settings.value(of: setting, at: place) }
    }

    /// Sets what a person wants; it is on the disk and takes effect before this returns.
    ///
    /// - Parameters:
    ///   - name: A raw value of `PersonalSetting`.
    ///   - appID: The app; empty for what belongs to no app.
    ///   - event: The event type; empty for the app as a whole.
    ///   - text: What the person wants; empty for what is standard.
    /// - Throws: When there is no such app, event type, setting or value, and when the administrator decided it.
    package func set(_ name: String, appID: String, event: String, to text: String) throws(AgentRefusal) {
        let place = try place(appID: appID, event: event)
        let setting = try setting(name, for: place)
        let value = try text.isEmpty ? nil : value(text, of: setting, at: place)
        guard text.isEmpty || value != nil else {
            throw AgentRefusal(
                .badValue, "\(name) is \(setting.expectation(for: place.scope)), and not '\(text)'.")
        }
        if setting == .soundName, let value, case .named(let sound) = SoundChoice(value),
            surroundings.soundInstaller?.knows(sound, of: appID) == false
        {
            throw AgentRefusal(.badValue, noSound(sound, for: appID))
        }
        if setting == .doNotDisturb, let value, case .until(let end)? = DoNotDisturb(value),
            end <= WallClock.unixMilliseconds() / 1000
        {
            throw AgentRefusal(.badValue, "\(name) cannot be '\(value)': that time has passed.")
        }
        let before = try asking { () throws(SQLiteError) in try database.settings.value(of: setting, at: place) }
        guard !before.isLocked else {
            throw AgentRefusal(.locked, "The administrator of this device has set \(name) to '\(before.text)'.")
        }
        try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                let refused = try database.refusedTopics()
                try database.settings.choose(value, for: setting, at: place)
                if try database.refusedTopics() != refused { try database.facts.set(.isFilterDue, to: 1) }
            }
        }
        agentLog.info("setting_changed", ["app": appID, "event": event, "setting": name, "value": value ?? "standard"])
        try settingsChanged(appID: appID)
    }

    /// Lets changed settings take effect: badges come and go, alerts leave the panel, and the server hears what it need not
    /// send.
    func settingsChanged(appID: String) throws(AgentRefusal) {
        try asking { () throws(SQLiteError) in
            for app in try database.apps.all() where appID.isEmpty || app.appID.utf8.elementsEqual(appID.utf8) {
                let shown = shownBadge(of: app)
                if app.badge > 0 || shown > 0 { present(badge: shown, appID: app.appID) }
            }
        }
        try withdrawUnwantedAlerts()
        if appID.isEmpty { trimInbox() }
        observer?.settingsChanged(appID: appID)
        link?.uplink.setNeedsFlush()
    }

    /// A value as it is kept, nil for a text that is none; alerts that are switched on appear as they last did.
    private func value(
        _ text: String, of setting: PersonalSetting, at place: SettingStore.Place
    ) throws(AgentRefusal) -> String? {
        guard setting == .alert, place.scope == .app, text.utf8.elementsEqual("on".utf8) else {
            return setting.normalized(text, for: place.scope)
        }
        return try asking { () throws(SQLiteError) in try database.settings.styleWhenOn(at: place).rawValue }
    }

    private func place(appID: String, event: String) throws(AgentRefusal) -> SettingStore.Place {
        guard !appID.isEmpty else { return .person }
        guard let app = try asking({ () throws(SQLiteError) in try database.apps.app(id: appID) }) else {
            throw .unknownApp(appID)
        }
        var place = SettingStore.Place.app(app)
        guard !event.isEmpty else { return place }
        let types = try asking { () throws(SQLiteError) in try database.eventTypes.all(of: appID) }
        guard types.contains(where: { $0.id.utf8.elementsEqual(event.utf8) }) else {
            throw AgentRefusal(.unknownEvent, "The app '\(appID)' declared no event type '\(event)'.")
        }
        place.event = event
        return place
    }

    private func setting(_ name: String, for place: SettingStore.Place) throws(AgentRefusal) -> PersonalSetting {
        let possible = PersonalSetting.allCases.filter { $0.scopes.contains(place.scope) }
        if let setting = possible.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) { return setting }
        throw AgentRefusal(
            .unknownSetting,
            "There is no setting '\(name)' here, only \(possible.map(\.rawValue).joined(separator: ", ")).")
    }

    // MARK: Badges

    /// The number that is on an app's icon now.
    package func shownBadge(of app: RegisteredApp) -> UInt32 {
        let isMasterOn = (try? database.settings.isOn(.master)) ?? false
        let isAllowed = (try? database.settings.isOn(.badge, at: .app(app))) ?? false
        return isMasterOn && isAllowed ? app.badge : 0
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
