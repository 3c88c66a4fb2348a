// SPDX-License-Identifier: Apache-2.0

/// What is judged where there is no payload: at registration, at the installation of a sound, and in programs that show
/// alerts of their own.
extension PayloadLinter {
    /// How a kind of event may be told.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: UInt8
        package static let badge = Parts(rawValue: 1)
        package static let sound = Parts(rawValue: 2)
        package static let alert = Parts(rawValue: 4)
        package static let all: Parts = [.badge, .sound, .alert]
        fileprivate static let names: [(part: Parts, name: String)] = [
            (.badge, "badge"), (.sound, "sound"), (.alert, "alert"),
        ]

        /// Joins the bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// One of them by its name in a manifest; nil for any other word.
        package init?(name: String) {
            guard let named = Parts.names.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
            self = named.part
        }
    }

    /// Judges an app as it is registered.
    ///
    /// - Parameters:
    ///   - appName: The name that people see.
    ///   - events: How each kind of event is told; an app that declares none is not asked.
    /// - Returns: What is wrong.
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

    /// The longest sound of an app, in milliseconds: 30 seconds, as at Apple.
    package static let soundMillisecondsMax: Int64 = 30_000

    /// Judges a sound file as it is installed.
    ///
    /// - Parameters:
    ///   - soundMilliseconds: How long it is.
    ///   - isKnown: Whether it is the same as one of the device's or of another app, byte for byte.
    /// - Returns: What is wrong.
    package static func findings(soundMilliseconds: Int64, isKnown: Bool) -> [PayloadFinding] {
        var findings = PayloadFindings(pushType: nil)
        if isKnown || soundMilliseconds > soundMillisecondsMax { findings.add(.soundFile, "") }
        return findings.list
    }

    /// A button of an alert that a program of ours shows.
    package struct Button: Sendable, Equatable {
        /// Its title.
        package var label: String
        /// Whether it does nothing but close the alert.
        package var isCancel: Bool

        /// Joins the parts.
        package init(_ label: String, isCancel: Bool = false) {
            self.label = label
            self.isCancel = isCancel
        }
    }

    /// Judges the buttons of an alert, from left to right.
    ///
    /// - Parameters:
    ///   - buttons: The buttons.
    ///   - isDestructive: Whether the one that acts destroys something.
    /// - Returns: What is wrong.
    package static func findings(buttons: [Button], isDestructive: Bool) -> [PayloadFinding] {
        var findings = PayloadFindings(pushType: nil)
        if !(1...2).contains(buttons.count) { findings.add(.buttonCount, "buttons") }
        if buttons.count == 1 { findings.add(.singleButton, "buttons") }
        if buttons.count == 2, buttons.map(\.isCancel) != [!isDestructive, isDestructive] {
            findings.add(.cancelPlace, "buttons")
        }
        for (index, button) in buttons.enumerated() {
            let label = button.label.utf8.span
            findings.judgeLabel(label, 0..<label.count, isEscaped: false, "buttons.\(index)")
        }
        return findings.list
    }
}
