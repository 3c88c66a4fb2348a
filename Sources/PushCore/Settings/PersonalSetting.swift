// SPDX-License-Identifier: Apache-2.0

/// What a person sets on a device, or an administrator for managed devices.
///
/// The raw values are in the agent's database, on the bus, in policies and on the command line; so are the texts of
/// their values, which `normalized` checks.
package enum PersonalSetting: String, CaseIterable, Sendable {
    // Of the person.
    case master
    case doNotDisturb = "do-not-disturb"
    case schedule
    case silent
    case inboxDays = "inbox-days"
    case inboxCount = "inbox-count"
    // Of an app; the first three of its event types, too.
    case badge
    case sound
    case alert
    case soundName = "sound-name"
    case preview
    case timeSensitive = "time-sensitive"
    case critical

    /// What a value belongs to.
    package enum Scope: Sendable, CaseIterable {
        /// Everything on the device.
        case person
        /// One app.
        case app
        /// One of the event types that an app declared.
        case event
    }

    /// What kind of text a value is.
    private enum Form {
        case onOrOff
        case style
        case soundName
        case moment
        case schedule
        case number(ClosedRange<Int>)
    }

    /// What it can be set for.
    package var scopes: [Scope] {
        switch self {
        case .master, .doNotDisturb, .schedule, .silent, .inboxDays, .inboxCount: [.person]
        case .badge, .sound, .alert: [.app, .event]
        case .soundName, .preview, .timeSensitive, .critical: [.app]
        }
    }

    /// What holds until somebody says otherwise; docs/reference/settings.md gives the reasons.
    package func standard(for scope: Scope) -> String {
        switch self {
        case .master, .badge, .sound, .timeSensitive: "on"
        case .doNotDisturb, .silent, .preview, .critical: "off"
        case .schedule: "none"
        case .alert: scope == .event ? "on" : AlertStyle.standard.rawValue
        case .soundName: SoundChoice.asSent.text
        case .inboxDays: "30"
        case .inboxCount: "1000"
        }
    }

    /// A value as it is kept; nil for a text that is no value.
    ///
    /// - Parameters:
    ///   - text: What somebody wrote.
    ///   - scope: For what.
    /// - Returns: The value; `on` for an app's alerts is its banner, for example.
    package func normalized(_ text: String, for scope: Scope) -> String? {
        guard scopes.contains(scope) else { return nil }
        switch form(for: scope) {
        case .onOrOff: return ["on", "off"].first { $0.utf8.elementsEqual(text.utf8) }
        case .style: return AlertStyle(text)?.rawValue
        case .soundName: return SoundChoice(text)?.text
        case .moment: return DoNotDisturb(text)?.text
        case .schedule: return QuietSchedule(text)?.text
        case .number(let range): return Int(text).flatMap { range.contains($0) ? "\($0)" : nil }
        }
    }

    /// What a value may be, for a message.
    package func expectation(for scope: Scope) -> String {
        switch form(for: scope) {
        case .onOrOff: "on or off"
        case .style: "on, off, none, banner or alert"
        case .soundName: "as-sent, none, or the name of a sound"
        case .moment: "on, off, or 'until' and UNIX seconds"
        case .schedule: "none, or times such as 'mon-fri 22:00-07:00, sat sun 23:00-09:00'"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        }
    }

    private func form(for scope: Scope) -> Form {
        switch self {
        case .master, .silent, .badge, .sound, .preview, .timeSensitive, .critical: .onOrOff
        case .alert: scope == .event ? .onOrOff : .style
        case .soundName: .soundName
        case .doNotDisturb: .moment
        case .schedule: .schedule
        case .inboxDays: .number(1...3650)
        case .inboxCount: .number(10...100_000)
        }
    }

    /// One phrase for help and the reference.
    package var help: String {
        switch self {
        case .master: "Whether anything is shown, heard or counted on icons at all"
        case .doNotDisturb: "Whether alerts and sounds stay away now"
        case .schedule: "At what times of the week alerts and sounds stay away"
        case .silent: "Whether sounds stay away, while badges and alerts appear"
        case .inboxDays: "How many days notifications are kept"
        case .inboxCount: "How many notifications are kept"
        case .badge: "Numbers on the app's icon"
        case .sound: "Sounds"
        case .alert: "What appears on the screen: nothing, a banner that goes by itself, or an alert that stays"
        case .soundName: "Which sound: the one that the notification names, none, or always this one"
        case .preview: "Whether texts are readable while the screen is locked"
        case .timeSensitive: "Whether time-sensitive notifications come through while others do not disturb"
        case .critical: "Whether critical notifications come through, and are heard while sounds stay away"
        }
    }
}

/// How an app's alerts appear.
package enum AlertStyle: String, CaseIterable, Sendable {
    /// Not at all.
    case none
    /// Goes by itself after a while.
    case banner
    /// Stays until it is answered.
    case alert

    /// What holds until somebody says otherwise.
    package static let standard = AlertStyle.banner

    /// Reads a style: `off` is none, and `on` a banner, unless who is asked knows which style it was.
    package init?(_ text: String) {
        if text.utf8.elementsEqual("on".utf8) {
            self = .banner
        } else if text.utf8.elementsEqual("off".utf8) {
            self = .none
        } else if let style = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) {
            self = style
        } else {
            return nil
        }
    }
}

/// Which sound an app makes.
package enum SoundChoice: Sendable, Equatable {
    /// What the notification names.
    case asSent
    /// No sound.
    case none
    /// This one whenever the notification has any sound.
    case named(String)

    /// The longest name, in bytes.
    package static let nameByteCountMax = 64

    /// Reads a choice; a name is `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` without `..`.
    package init?(_ text: String) {
        switch text {
        case "as-sent": self = .asSent
        case "none": self = .none
        default:
            guard Self.isName(text) else { return nil }
            self = .named(text)
        }
    }

    /// As it is kept.
    package var text: String {
        switch self {
        case .asSent: "as-sent"
        case .none: "none"
        case .named(let name): name
        }
    }

    private static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first.isLetterOrDigit, bytes.count <= nameByteCountMax else { return false }
        let dot = UInt8(ascii: ".")
        return bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            if byte == dot { return bytes[index - 1] != dot }
            return byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
}
