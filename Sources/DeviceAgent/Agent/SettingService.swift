// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// The user's settings for the device, for apps and for their event types.
package final class SettingService {
    /// A setting with its effective value, for display.
    struct EffectiveSetting: Sendable, Equatable {
        /// The event type that the setting is for; empty for the app or the user as a whole.
        var event: String
        var setting: Setting
        /// The effective value.
        var value: SettingStore.Value
    }

    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let link: ServerLink
    private let badges: BadgeService
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let inbox: InboxService
    private let alerts: AlertService
    private let sounds: SoundService

    init(_ context: AgentContext, _ inbox: InboxService, _ alerts: AlertService, _ sounds: SoundService) {
        database = context.database
        environment = context.environment
        link = context.link
        badges = context.badges
        changes = context.changes
        failures = context.failures
        self.inbox = inbox
        self.alerts = alerts
        self.sounds = sounds
    }

    /// Returns the effective values of all settings of an app and its event types; nil selects the user's own
    /// settings.
    func all(appID: AppID?) throws(AgentRefusal) -> [EffectiveSetting] {
        let app = try target(appID: appID, event: "")
        let events = try failures.refusing { () throws(SQLError) -> [EventTypeTable.EventType] in
            if let appID { try database.eventTypes.all(of: appID) } else { [] }
        }
        var lines: [EffectiveSetting] = []
        for event in [""] + events.map(\.id) {
            var target = app
            target.event = event
            for setting in Setting.allCases where setting.scopes.contains(target.scope) {
                let value = try failures.refusing { () throws(SQLError) in
                    try database.settings.value(of: setting, at: target)
                }
                lines.append(
                    EffectiveSetting(event: event, setting: setting, value: value.shown(of: setting, now: .now)))
            }
        }
        return lines
    }

    /// Returns the effective settings of an app.
    func appSettings(of app: RegisteredApp) throws(AgentRefusal) -> AppSettings {
        try failures.refusing { () throws(SQLError) in try database.settings.settings(of: app) }
    }

    /// Returns the settings of an app as a whole that the user may not change.
    func lockedSettings(of app: RegisteredApp) throws(AgentRefusal) -> [Setting] {
        try failures.refusing { () throws(SQLError) in try database.settings.lockedSettings(of: app) }
    }

    /// Returns the settings that the user may want to allow, because they held back a notification of the app.
    func offers(to app: RegisteredApp) throws(AgentRefusal) -> [Setting] {
        try failures.refusing { () throws(SQLError) in try database.settings.offers(to: app) }
    }

    /// Returns the event types that an app declared, in the manifest's order.
    func eventTypes(of app: RegisteredApp) throws(AgentRefusal) -> [EventTypeTable.EventType] {
        try failures.refusing { () throws(SQLError) in try database.eventTypes.all(of: app.appID) }
    }

    /// Returns the effective value of one setting.
    func setting(_ name: String, appID: AppID?, event: String) throws(AgentRefusal) -> SettingStore.Value {
        let target = try target(appID: appID, event: event)
        let setting = try setting(name, for: target)
        let value = try failures.refusing { () throws(SQLError) in
            try database.settings.value(of: setting, at: target)
        }
        return value.shown(of: setting, now: .now)
    }

    /// Stores the user's choice for a setting; it is on disk and in effect when this returns.
    ///
    /// - Parameters:
    ///   - name: A raw value of `Setting`.
    ///   - appID: The app; nil for the user's own settings.
    ///   - event: The event type; empty for the app as a whole.
    ///   - text: The user's choice; empty to restore the default.
    /// - Throws: An error if the app, event type, setting or value is unknown, or if the administrator has locked the
    ///   setting.
    func set(_ name: String, appID: AppID?, event: String, to text: String) throws(AgentRefusal) {
        let target = try target(appID: appID, event: event)
        let setting = try setting(name, for: target)
        let value = try text.isEmpty ? nil : value(text, of: setting, at: target)
        guard text.isEmpty || value != nil else {
            throw AgentRefusal(
                .badValue, "Invalid value '\(text)' for \(name): use \(setting.expectation(for: target.scope)).")
        }
        if setting == .soundName, let value, case .named(let sound) = SoundChoice(value),
            environment.soundInstaller?.knows(sound, of: appID) == false
        {
            throw AgentRefusal(.badValue, sounds.noSound(sound, for: appID))
        }
        if setting == .doNotDisturb || setting == .muted, let value, case .until(let end)? = DoNotDisturb(value),
            end <= .now
        {
            throw AgentRefusal(.badValue, "Invalid value '\(value)' for \(name): the time is in the past.")
        }
        let before = try failures.refusing { () throws(SQLError) in
            try database.settings.value(of: setting, at: target)
        }
        guard !before.isLocked else {
            throw AgentRefusal(.locked, "The administrator has locked \(name) to '\(before.text)'.")
        }
        try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                let refused = try database.refusedTopics()
                try database.settings.choose(value, for: setting, at: target)
                if try database.refusedTopics() != refused { try database.state.set(.isFilterDue, to: 1) }
            }
        }
        agentLog.info(
            "setting_changed",
            ["app": appID?.text ?? "", "event": event, "setting": name, "value": value ?? "standard"])
        try settingsChanged(appID: appID)
        // An entry no longer offers a setting that the user has chosen.
        if setting == .timeSensitive { changes.inboxChanged() }
    }

    /// Applies changed settings: updates badges, withdraws alerts, and sends the filter to the server.
    func settingsChanged(appID: AppID?) throws(AgentRefusal) {
        try failures.refusing { () throws(SQLError) in
            for app in try database.apps.all() where appID == nil || app.appID == appID {
                let shown = badges.shownBadge(of: app)
                if app.badge > 0 || shown > 0 { badges.present(shown, appID: app.appID) }
            }
        }
        try alerts.withdrawUnwanted()
        if appID == nil { inbox.trim() }
        changes.observer?.settingsChanged(appID: appID)
        link.setNeedsFlush()
    }

    /// Returns the value as it is stored; nil if the text is not a valid value.
    ///
    /// `alert` set to `on` restores the style that was last in use.
    ///
    /// - Parameters:
    ///   - text: The value from the user.
    ///   - setting: The setting.
    ///   - target: The app or event type.
    /// - Returns: The normalized value.
    /// - Throws: `failed` if the database returns an error.
    private func value(
        _ text: String, of setting: Setting, at target: SettingStore.Target
    ) throws(AgentRefusal) -> String? {
        guard setting == .alert, target.scope == .app, text.utf8.elementsEqual("on".utf8) else {
            return setting.normalized(text, for: target.scope)
        }
        return try failures.refusing { () throws(SQLError) in try database.settings.styleWhenOn(at: target).rawValue
        }
    }

    private func target(appID: AppID?, event: String) throws(AgentRefusal) -> SettingStore.Target {
        guard let appID else { return .device }
        guard let app = try failures.refusing({ () throws(SQLError) in try database.apps.app(id: appID) }) else {
            throw .unknownApp(appID)
        }
        var target = SettingStore.Target.app(app)
        guard !event.isEmpty else { return target }
        let types = try failures.refusing { () throws(SQLError) in try database.eventTypes.all(of: appID) }
        guard types.contains(where: { $0.id.utf8.elementsEqual(event.utf8) }) else {
            throw AgentRefusal(.unknownEvent, "App '\(appID)' has no event type '\(event)'.")
        }
        target.event = event
        return target
    }

    private func setting(_ name: String, for target: SettingStore.Target) throws(AgentRefusal) -> Setting {
        let possible = Setting.allCases.filter { $0.scopes.contains(target.scope) }
        if let setting = possible.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) { return setting }
        throw AgentRefusal(
            .unknownSetting,
            "Unknown setting '\(name)': use one of these: \(possible.map(\.rawValue).joined(separator: ", ")).")
    }
}
