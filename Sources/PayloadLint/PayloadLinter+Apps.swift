// SPDX-License-Identifier: Apache-2.0

/// The checks without a payload: at registration, at the installation of a sound, and for alerts of Posthorn's
/// programs.
extension PayloadLinter {
    /// The ways in which an app presents an event type.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: UInt8
        package static let badge = Parts(rawValue: 1)
        package static let sound = Parts(rawValue: 2)
        package static let alert = Parts(rawValue: 4)
        package static let all: Parts = [.badge, .sound, .alert]
        fileprivate static let names: [(part: Parts, name: String)] = [
            (.badge, "badge"), (.sound, "sound"), (.alert, "alert"),
        ]

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Returns the part with this name in a manifest; nil for any other word.
        package init?(name: String) {
            guard let named = Parts.names.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
            self = named.part
        }
    }

    /// Checks an app at its registration.
    ///
    /// - Parameters:
    ///   - appName: The name that users see.
    ///   - events: The parts that each event type uses; empty for an app that declares none, which is not checked for
    ///     them.
    /// - Returns: The findings.
    package static func findings(appName: String, events: [Parts]) -> [PayloadFinding] {
        var findings = PayloadFindings(pushType: nil)
        if appName.utf8.isEmpty { findings.add(.emptyTitle, "name") }
        let used = events.reduce(into: Parts()) { $0.formUnion($1) }
        let missing = Parts.names.filter { !used.contains($0.part) }.map(\.name)
        if !events.isEmpty, !missing.isEmpty {
            let sentence = PayloadCheck.unsupportedPart.sentence
            findings.add(
                .unsupportedPart, "event_types", text: "\(sentence) Missing: \(missing.joined(separator: ", ")).")
        }
        return findings.list
    }

    /// The maximum duration of an app's sound, in milliseconds: 30 seconds, as in Apple's service.
    static let soundMillisecondsMax: Int64 = 30_000

    /// Checks a sound file at its installation.
    ///
    /// - Parameters:
    ///   - soundMilliseconds: The duration of the sound.
    ///   - isKnown: Whether it is byte for byte equal to a sound of the device or of another app.
    /// - Returns: The findings.
    package static func findings(soundMilliseconds: Int64, isKnown: Bool) -> [PayloadFinding] {
        var findings = PayloadFindings(pushType: nil)
        if isKnown || soundMilliseconds > soundMillisecondsMax { findings.add(.soundFile, "") }
        return findings.list
    }

    /// A button of an alert that one of Posthorn's programs shows.
    package struct Button: Sendable, Equatable {
        package var label: String
        /// Whether the button only closes the alert.
        var isCancel: Bool

        package init(_ label: String, isCancel: Bool = false) {
            self.label = label
            self.isCancel = isCancel
        }
    }

    /// Checks the buttons of an alert, from left to right.
    ///
    /// - Parameters:
    ///   - buttons: The buttons.
    ///   - isDestructive: Whether the action of the other button is destructive.
    /// - Returns: The findings.
    package static func findings(buttons: [Button], isDestructive: Bool) -> [PayloadFinding] {
        var findings = PayloadFindings(pushType: nil)
        if !(1...2).contains(buttons.count) { findings.add(.buttonCount, "buttons") }
        if buttons.count == 1 { findings.add(.singleButton, "buttons") }
        if buttons.count == 2, buttons.map(\.isCancel) != [!isDestructive, isDestructive] {
            findings.add(.cancelPlace, "buttons")
        }
        for (index, button) in buttons.enumerated() {
            let label = button.label.utf8.span
            findings.checkLabel(label, 0..<label.count, isEscaped: false, "buttons.\(index)")
        }
        return findings.list
    }
}
