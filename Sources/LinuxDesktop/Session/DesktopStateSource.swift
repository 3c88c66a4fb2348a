// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// A program on a bus that reports one aspect of the desktop session.
package struct DesktopStateSource: Sendable {
    /// The aspect of the session that a source reports.
    enum Aspect: Sendable {
        case lock
        /// The desktop's own do-not-disturb is on.
        case quiet
        /// Notifications are to make no sound.
        case silence
        case power
    }

    var aspect: Aspect
    /// The bus name; while it has no owner, the aspect is off.
    var name: String
    /// The object path of the query.
    var path: String
    /// The method of the query.
    var question: (interface: String, member: String, arguments: [BusValue])
    /// The signals after which the source is queried again; a nil path matches any object.
    var signals: [(path: String?, interface: String, member: String)]
    /// Whether the first argument of a signal is the new value.
    var signalsHaveValue = false
    /// Converts the answer to the value.
    var holds: @Sendable ([BusValue]) -> Bool

    /// Returns whether two sources send the same query to the same program.
    func isSame(as other: DesktopStateSource) -> Bool {
        aspect == other.aspect && name == other.name && path == other.path
            && question.interface == other.question.interface && question.member == other.question.member
            && question.arguments == other.question.arguments
    }

    /// Returns a source for a boolean property of an interface that signals its changes.
    static func property(
        _ aspect: Aspect, of name: String, _ path: String, _ interface: String, _ property: String,
        signalPath: String?
    ) -> DesktopStateSource {
        let properties = "org.freedesktop.DBus.Properties"
        return DesktopStateSource(
            aspect: aspect, name: name, path: path,
            question: (properties, "Get", [.string(interface), .string(property)]),
            signals: [(signalPath, properties, "PropertiesChanged")], holds: isTrue)
    }

    /// Whether the answer is a boolean that is true.
    @Sendable static func isTrue(_ answer: [BusValue]) -> Bool { answer.first?.withoutVariant == .bool(true) }
}
