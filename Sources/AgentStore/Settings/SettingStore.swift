// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushSQLite

/// The effective settings: a locked policy, or else the user's choice, or else the policy, or else the default.
package final class SettingStore {
    /// The app or event type that a setting applies to.
    package struct Place: Sendable, Equatable {
        /// The app; nil for the whole device.
        package var appID: AppID?
        /// The topic, by which policies identify the app; nil for the whole device.
        package var topic: TopicName?
        /// The event type; empty for the app as a whole.
        package var event: String

        package init(appID: AppID? = nil, topic: TopicName? = nil, event: String = "") {
            self.appID = appID
            self.topic = topic
            self.event = event
        }

        /// The place of the settings for the whole device.
        package static let person = Place()

        /// Returns the place of an app as a whole.
        package static func app(_ app: RegisteredApp) -> Place { Place(appID: app.appID, topic: app.topic) }

        /// The scope of the place.
        package var scope: PersonalSetting.Scope { appID == nil ? .person : event.isEmpty ? .app : .event }
    }

    /// A value with its origin.
    package struct Value: Sendable, Equatable {
        /// The effective value.
        package var text: String
        /// Whether the user may not change it.
        package var isLocked: Bool
        /// The party that set it.
        package var origin = Origin.standard
    }

    /// The parties that can set a value.
    package enum Origin: String, Sendable, CaseIterable {
        case standard, person, administrator
    }

    private let choices: ChoiceTable
    private let policy: PolicyTable

    init(_ choices: ChoiceTable, _ policy: PolicyTable) {
        self.choices = choices
        self.policy = policy
    }

    /// Returns the effective value of a setting.
    package func value(of setting: PersonalSetting, at place: Place) throws(SQLiteError) -> Value {
        let rule = place.event.isEmpty ? try policy.rule(for: setting, topic: place.topic) : nil
        if let rule, rule.isLocked { return Value(text: rule.value, isLocked: true, origin: .administrator) }
        if let chosen = try choices.value(of: setting, appID: place.appID, event: place.event) {
            return Value(text: chosen, isLocked: false, origin: .person)
        }
        if let rule { return Value(text: rule.value, isLocked: false, origin: .administrator) }
        return Value(text: setting.standard(for: place.scope), isLocked: false)
    }

    /// Returns whether a setting is on.
    package func isOn(_ setting: PersonalSetting, at place: Place = .person) throws(SQLiteError) -> Bool {
        try value(of: setting, at: place).text.utf8.elementsEqual("on".utf8)
    }

    /// Stores or deletes the user's choice, and the style of alerts that this turns off; must be called inside a
    /// transaction.
    package func choose(_ value: String?, for setting: PersonalSetting, at place: Place) throws(SQLiteError) {
        let before = try style(setting, at: place)
        try choices.set(value, for: setting, appID: place.appID, event: place.event)
        guard let before, before != .none, try style(setting, at: place) == AlertStyle.none else { return }
        try choices.setEarlierStyle(before, appID: place.appID)
    }

    /// Returns the effective alert style; nil for settings without one.
    private func style(_ setting: PersonalSetting, at place: Place) throws(SQLiteError) -> AlertStyle? {
        guard setting == .alert, place.scope == .app else { return nil }
        return AlertStyle(try value(of: setting, at: place).text)
    }

    /// Returns the alert style after a switch to "on": the present or the previous style, or else the default.
    package func styleWhenOn(at place: Place) throws(SQLiteError) -> AlertStyle {
        let style = try style(.alert, at: place) ?? .none
        if style != .none { return style }
        return try choices.earlierStyle(appID: place.appID) ?? .standard
    }

    /// Returns the effective settings of an app.
    package func settings(of app: RegisteredApp) throws(SQLiteError) -> AppSettings {
        let place = Place.app(app)
        var settings = AppSettings()
        settings.allowsBadge = try isOn(.badge, at: place)
        settings.allowsSound = try isOn(.sound, at: place)
        settings.alertStyle = AlertStyle(try value(of: .alert, at: place).text) ?? .none
        settings.sound = SoundChoice(try value(of: .soundName, at: place).text) ?? .asSent
        settings.showsPreview = try isOn(.preview, at: place)
        settings.allowsTimeSensitive = try isOn(.timeSensitive, at: place)
        settings.allowsCritical = try isOn(.critical, at: place)
        return settings
    }

    /// Returns the effective switches of an app's event type.
    package func switches(of event: String, of app: RegisteredApp) throws(SQLiteError) -> EventSwitches {
        let place = Place(appID: app.appID, topic: app.topic, event: event)
        return EventSwitches(
            allowsBadge: try isOn(.badge, at: place), allowsSound: try isOn(.sound, at: place),
            allowsAlert: try isOn(.alert, at: place))
    }

    /// Returns the settings and states that apply to all apps.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - desk: The state of the desktop.
    /// - Returns: The circumstances.
    /// - Throws: `SQLiteError` if a setting cannot be read.
    package func circumstances(now: Timestamp, desk: DesktopState) throws(SQLiteError) -> PresentationContext {
        let manual = DoNotDisturb(try value(of: .doNotDisturb, at: .person).text)
        let schedule = QuietSchedule(try value(of: .schedule, at: .person).text)
        let isScheduled = schedule?.contains(LocalClock.time(at: now)) ?? false
        return PresentationContext(
            isMasterOn: try isOn(.master), isQuiet: manual?.holds(at: now) ?? false || isScheduled,
            isSilent: try isOn(.silent), desk: desk)
    }
}
