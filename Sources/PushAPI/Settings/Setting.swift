// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A setting of the user on a device, or of an administrator for managed devices.
///
/// The raw values appear in the agent's database, on D-Bus, in policies and on the command line. So do the texts of the
/// values, which `normalized` validates.
package enum Setting: String, CaseIterable, Sendable {
    // These settings belong to the user.
    case master
    case doNotDisturb = "do-not-disturb"
    case schedule
    case silent
    case inboxDays = "inbox-days"
    case inboxCount = "inbox-count"
    case tray
    // These settings belong to an app. The first three also belong to its event types.
    case badge
    case sound
    case alert
    case soundName = "sound-name"
    case preview
    case timeSensitive = "time-sensitive"
    case critical
    case muted
    case pictures

    /// The subject that a value applies to.
    package enum Scope: Sendable, CaseIterable {
        /// The whole device.
        case device
        /// A single app.
        case app
        /// One of the event types that an app declared.
        case event
    }

    /// The syntax of a value.
    private enum Form {
        case onOrOff
        case style
        case soundName
        case moment
        case end
        case schedule
        case number(ClosedRange<Int>)
    }

    /// The scopes in which the setting can have a value.
    package var scopes: [Scope] {
        switch self {
        case .master, .doNotDisturb, .schedule, .silent, .inboxDays, .inboxCount, .tray: [.device]
        case .badge, .sound, .alert: [.app, .event]
        case .soundName, .preview, .timeSensitive, .critical, .muted, .pictures: [.app]
        }
    }

    /// Returns the default value, which docs/reference/settings.md lists.
    package func defaultValue(for scope: Scope) -> String {
        switch self {
        case .master, .tray, .badge, .sound, .pictures: "on"
        case .doNotDisturb, .silent, .preview, .timeSensitive, .critical, .muted: "off"
        case .schedule: "none"
        case .alert: scope == .event ? "on" : AlertStyle.standard.rawValue
        case .soundName: SoundChoice.asSent.text
        case .inboxDays: "30"
        case .inboxCount: "1000"
        }
    }

    /// Returns a value in its stored form; nil if the text is not a valid value.
    ///
    /// - Parameters:
    ///   - text: The value as entered.
    ///   - scope: The scope of the value.
    /// - Returns: The stored form; for example, `on` for an app's alerts becomes `banner`.
    package func normalized(_ text: String, for scope: Scope) -> String? {
        guard scopes.contains(scope) else { return nil }
        switch form(for: scope) {
        case .onOrOff: return ["on", "off"].first { $0.utf8.elementsEqual(text.utf8) }
        case .style: return AlertStyle(text)?.rawValue
        case .soundName: return SoundChoice(text)?.text
        case .moment: return DoNotDisturb(text)?.text
        case .end: return DoNotDisturb(text).flatMap { $0 == .on ? nil : $0.text }
        case .schedule: return QuietSchedule(text)?.text
        case .number(let range): return Int(text).flatMap { range.contains($0) ? "\($0)" : nil }
        }
    }

    /// Returns the description of valid values, for an error message.
    package func expectation(for scope: Scope) -> String {
        switch form(for: scope) {
        case .onOrOff: "on or off"
        case .style: "on, off, none, banner or alert"
        case .soundName: "as-sent, none, or the name of a sound"
        case .moment: "on, off, or 'until' and a time in UNIX seconds"
        case .end: "off, or 'until' and a time in UNIX seconds"
        case .schedule: "none, or times such as 'mon-fri 22:00-07:00, sat sun 23:00-09:00'"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        }
    }

    private func form(for scope: Scope) -> Form {
        switch self {
        case .master, .silent, .tray, .badge, .sound, .preview, .timeSensitive, .critical, .pictures: .onOrOff
        case .alert: scope == .event ? .onOrOff : .style
        case .soundName: .soundName
        case .doNotDisturb: .moment
        case .muted: .end
        case .schedule: .schedule
        case .inboxDays: .number(1...3650)
        case .inboxCount: .number(10...100_000)
        }
    }

    /// One phrase for help and the reference.
    package var help: String {
        switch self {
        case .master: "Master switch for alerts, sounds and badges"
        case .doNotDisturb: "Suppress alerts and sounds now"
        case .schedule: "Times of the week at which alerts and sounds are suppressed"
        case .silent: "Mute sounds, but show badges and alerts"
        case .inboxDays: "The number of days for which notifications are kept"
        case .inboxCount: "The maximum number of notifications that are kept"
        case .tray: "Show an item in the desktop's tray"
        case .badge: "Show badges on the app's icon"
        case .sound: "Play sounds"
        case .alert: "The alert style: none, a temporary banner, or an alert that stays until answered"
        case .soundName: "The sound to play: the sound of the notification, none, or always the same one"
        case .preview: "Show texts while the screen is locked"
        case .timeSensitive: "Show time-sensitive notifications during Do Not Disturb"
        case .pictures: "Show pictures from hosts that the app names, and from its filter"
        case .critical: "Show and play critical notifications during Do Not Disturb and while sounds are silenced"
        case .muted: "Suppress alerts and sounds of the app for a while"
        }
    }
}

/// The presentation style of an app's alerts.
package enum AlertStyle: String, CaseIterable, Sendable {
    /// The app's alerts do not appear.
    case none
    /// An alert disappears after a while.
    case banner
    /// An alert stays until the user answers it.
    case alert

    /// The default style.
    package static let standard = AlertStyle.banner

    /// Parses a style; `off` means `none`, and `on` means `banner`.
    ///
    /// A caller that knows the style before `off` handles `on` before it calls this initializer.
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

/// The choice of an app's sound.
package enum SoundChoice: Sendable, Equatable {
    /// The sound that the notification names.
    case asSent
    case none
    /// This sound, whenever the notification has any sound.
    case named(String)

    /// The maximum length of a sound name, in bytes.
    static let nameByteCountMax = 64

    /// Parses a choice; a sound name matches `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` and does not contain `..`.
    package init?(_ text: String) {
        switch text {
        case "as-sent": self = .asSent
        case "none": self = .none
        default:
            guard Self.isName(text) else { return nil }
            self = .named(text)
        }
    }

    /// The stored text form.
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
