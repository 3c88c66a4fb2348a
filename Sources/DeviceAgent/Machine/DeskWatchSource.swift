// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// A program on a bus that tells whether something holds at the person's desk.
package struct DeskWatchSource: Sendable {
    /// What it is about.
    package enum Aspect: Sendable {
        /// The screen is locked.
        case lock
        /// The desktop's own do-not-disturb is on.
        case quiet
        /// Notifications are to make no sound.
        case silence
        /// The machine saves power.
        case power
    }

    /// What it is about.
    var aspect: Aspect
    /// The bus name; nothing holds while nobody owns it.
    var name: String
    /// The object that is asked.
    var path: String
    /// The method that is asked.
    var question: (interface: String, member: String, arguments: [BusValue])
    /// After any of these, from the object or, for nil, from any object, it is asked again.
    var signals: [(path: String?, interface: String, member: String)]
    /// Whether a signal's first argument is what holds from then on.
    var signalsHaveValue = false
    /// Reads the answer.
    var holds: @Sendable ([BusValue]) -> Bool

    /// Whether another one asks the same of the same program.
    func isSame(as other: DeskWatchSource) -> Bool {
        aspect == other.aspect && name == other.name && path == other.path
            && question.interface == other.question.interface && question.member == other.question.member
            && question.arguments == other.question.arguments
    }

    /// A boolean property of an interface that announces its changes.
    static func property(
        _ aspect: Aspect, of name: String, _ path: String, _ interface: String, _ property: String,
        signalPath: String?
    ) -> DeskWatchSource {
        let properties = "org.freedesktop.DBus.Properties"
        return DeskWatchSource(
            aspect: aspect, name: name, path: path,
            question: (properties, "Get", [.string(interface), .string(property)]),
            signals: [(signalPath, properties, "PropertiesChanged")], holds: isTrue)
    }

    /// Whether the answer is a true boolean.
    @Sendable static func isTrue(_ answer: [BusValue]) -> Bool { answer.first?.withoutVariant == .bool(true) }
}
