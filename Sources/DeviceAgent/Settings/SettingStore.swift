// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQLite

/// What holds: a locked policy, or else the person's choice, or else the policy, or else what is standard.
package final class SettingStore {
    /// Whose setting is meant.
    package struct Place: Sendable, Equatable {
        /// The app id; empty for the person.
        package var appID: String
        /// By which policies know the app.
        package var topic: String
        /// The event type; empty for the app as a whole.
        package var event: String

        /// Joins the parts.
        package init(appID: String = "", topic: String = "", event: String = "") {
            self.appID = appID
            self.topic = topic
            self.event = event
        }

        /// Everything on the device.
        package static let person = Place()

        /// An app as a whole.
        package static func app(_ app: RegisteredApp) -> Place { Place(appID: app.appID, topic: app.topic) }

        /// What kind of place it is.
        package var scope: PersonalSetting.Scope { appID.isEmpty ? .person : event.isEmpty ? .app : .event }
    }

    /// A value with where it comes from.
    package struct Value: Sendable, Equatable {
        /// What holds.
        package var text: String
        /// Whether the person may not change it.
        package var isLocked: Bool
        /// Who said so.
        package var origin = Origin.standard
    }

    /// Who decided what holds.
    package enum Origin: String, Sendable, CaseIterable {
        case standard, person, administrator
    }

    private let choices: ChoiceTable
    private let policy: PolicyTable

    init(_ choices: ChoiceTable, _ policy: PolicyTable) {
        self.choices = choices
        self.policy = policy
    }

    /// What holds of a setting.
    package func value(of setting: PersonalSetting, at place: Place) throws(SQLiteError) -> Value {
        let rule = place.event.isEmpty ? try policy.rule(for: setting, topic: place.topic) : nil
        if let rule, rule.isLocked { return Value(text: rule.value, isLocked: true, origin: .administrator) }
        if let chosen = try choices.value(of: setting, appID: place.appID, event: place.event) {
            return Value(text: chosen, isLocked: false, origin: .person)
        }
        if let rule { return Value(text: rule.value, isLocked: false, origin: .administrator) }
        return Value(text: setting.standard(for: place.scope), isLocked: false)
    }

    /// Whether a setting is on.
    package func isOn(_ setting: PersonalSetting, at place: Place = .person) throws(SQLiteError) -> Bool {
        try value(of: setting, at: place).text.utf8.elementsEqual("on".utf8)
    }

    /// Remembers what the person wants, or forgets it, and which style of alerts is gone with that; inside a transaction.
    package func choose(_ value: String?, for setting: PersonalSetting, at place: Place) throws(SQLiteError) {
        let before = try style(setting, at: place)
        try choices.set(value, for: setting, appID: place.appID, event: place.event)
        guard let before, before != .none, try style(setting, at: place) == AlertStyle.none else { return }
        try choices.setEarlierStyle(before, appID: place.appID)
    }

    /// The style that holds; nil for a setting that has none.
    private func style(_ setting: PersonalSetting, at place: Place) throws(SQLiteError) -> AlertStyle? {
        guard setting == .alert, place.scope == .app else { return nil }
        return AlertStyle(try value(of: setting, at: place).text)
    }

    /// How an app's alerts appear when they are switched on: as they do or last did, or else as is standard.
    package func styleWhenOn(at place: Place) throws(SQLiteError) -> AlertStyle {
        let style = try style(.alert, at: place) ?? .none
        if style != .none { return style }
        return try choices.earlierStyle(appID: place.appID) ?? .standard
    }

    /// What an app may do.
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

    /// What an event type of an app may do.
    package func switches(of event: String, of app: RegisteredApp) throws(SQLiteError) -> EventSwitches {
        let place = Place(appID: app.appID, topic: app.topic, event: event)
        return EventSwitches(
            allowsBadge: try isOn(.badge, at: place), allowsSound: try isOn(.sound, at: place),
            allowsAlert: try isOn(.alert, at: place))
    }

    /// What holds for all apps at a moment.
    ///
    /// - Parameters:
    ///   - now: UNIX milliseconds.
    ///   - desk: What the desk says.
    /// - Returns: The circumstances.
    /// - Throws: What SQLite answered.
    package func circumstances(
        nowUnixMilliseconds now: Int64, desk: DeskState
    ) throws(SQLiteError) -> Circumstances {
        let manual = DoNotDisturb(try value(of: .doNotDisturb, at: .person).text)
        let schedule = QuietSchedule(try value(of: .schedule, at: .person).text)
        let isScheduled = schedule?.contains(LocalClock.time(atUnixSeconds: now / 1000)) ?? false
        return Circumstances(
            isMasterOn: try isOn(.master), isQuiet: manual?.holds(at: now / 1000) ?? false || isScheduled,
            isSilent: try isOn(.silent), desk: desk)
    }
}

extension AgentDatabase {
    /// The topics of apps that may do nothing at all.
    func refusedTopics() throws(SQLiteError) -> [String] {
        var topics: [String] = []
        for app in try apps.all() where try settings.settings(of: app).refusesAll { topics.append(app.topic) }
        return topics
    }
}
