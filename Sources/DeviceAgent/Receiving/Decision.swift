// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What to do about a notification: settings, circumstances and payload in, orders out, nothing else known.
///
/// Nothing in a payload overrides a person's choice.
package struct Decision: Sendable, Equatable {
    /// The number to put on the app's icon; nil leaves it alone.
    package var badge: UInt32?
    /// Whether the number is the app's from now on, though its icon may not be allowed to show it: what was decided against
    /// for this notification alone must not come to the icon later.
    package var keepsBadge = true
    /// The sound to play.
    package var sound: Sound?
    /// How to show the alert; nil for not at all.
    package var alert: AlertStyle?
    /// Whether the alert says nothing but whose it is: the screen is locked.
    package var hidesTexts = false
    /// Whether the alert may come as a window that takes the keyboard: not while the desktop itself is not to be disturbed, and
    /// not while the person speaks with somebody.
    package var mayTakeFocus = true
    /// Why nothing at all happens; nil when something does.
    package var suppression: SuppressionReason?
    /// What the notification has and what becomes of it, for the inbox.
    package var effects: [Effect] = []

    /// What somebody asks for.
    package struct Question: Sendable, Equatable {
        /// What the provider sent.
        package var payload: Payload
        /// What the app may do; nil when none is registered for the topic.
        package var settings: AppSettings?
        /// What its event type may do.
        package var event = EventSwitches()
        /// What holds for all apps.
        package var circumstances = Circumstances()

        /// Joins the parts.
        package init(
            _ payload: Payload, settings: AppSettings?, event: EventSwitches = EventSwitches(),
            circumstances: Circumstances = Circumstances()
        ) {
            self.payload = payload
            self.settings = settings
            self.event = event
            self.circumstances = circumstances
        }
    }

    /// A part of a notification, and why it stays away; nil when it does not.
    package struct Effect: Sendable, Equatable {
        /// The three parts.
        package enum Part: String, Sendable, CaseIterable {
            case badge, sound, alert
        }

        /// Which part.
        package var part: Part
        /// What keeps it away.
        package var obstacle: SuppressionReason?

        /// Joins the two.
        package init(_ part: Part, _ obstacle: SuppressionReason? = nil) {
            self.part = part
            self.obstacle = obstacle
        }

        /// As the inbox has it: `sound` or `sound:silent`.
        package var text: String { obstacle.map { "\(part.rawValue):\($0.rawValue)" } ?? part.rawValue }
    }

    /// Decides.
    package init(_ question: Question) {
        let payload = question.payload
        suppression = Self.obstacle(question)
        keepsBadge = question.event.allowsBadge
        guard suppression == nil, let settings = question.settings else { return }
        if let count = payload.badge {
            let obstacle = Self.badgeObstacle(settings, question.event)
            if obstacle == nil { badge = count }
            effects.append(Effect(.badge, obstacle))
        } else if payload.hasUnreadableBadge {
            effects.append(Effect(.badge, .badBadge))
        }
        if let sent = payload.sound {
            let obstacle = Self.soundObstacle(question, settings)
            if obstacle == nil { sound = Sound(sent, settings.sound) }
            effects.append(Effect(.sound, obstacle))
        }
        if payload.alert != nil {
            let obstacle = Self.alertObstacle(question, settings)
            if obstacle == nil {
                alert = settings.alertStyle
                let desk = question.circumstances.desk
                hidesTexts = desk.isLocked && !settings.showsPreview
                mayTakeFocus = !desk.isRecording && (!desk.isQuiet || Self.comesThrough(payload, settings))
            }
            effects.append(Effect(.alert, obstacle))
        }
        suppression = Self.reason(for: effects)
    }

    /// What keeps everything away, whatever the app may do.
    private static func obstacle(_ question: Question) -> SuppressionReason? {
        guard question.settings != nil else { return .unknownApp }
        guard question.payload.isPresentable else { return .nothingToShow }
        return question.circumstances.isMasterOn ? nil : .masterOff
    }

    private static func badgeObstacle(_ settings: AppSettings, _ event: EventSwitches) -> SuppressionReason? {
        guard settings.allowsBadge else { return .switchedOff }
        return event.allowsBadge ? nil : .eventOff
    }

    private static func alertObstacle(_ question: Question, _ settings: AppSettings) -> SuppressionReason? {
        guard settings.allowsAlert else { return .switchedOff }
        guard question.event.allowsAlert else { return .eventOff }
        return question.circumstances.isQuiet && !comesThrough(question.payload, settings) ? .doNotDisturb : nil
    }

    private static func soundObstacle(_ question: Question, _ settings: AppSettings) -> SuppressionReason? {
        let (circumstances, desk) = (question.circumstances, question.circumstances.desk)
        guard settings.allowsSound, settings.sound != .none else { return .switchedOff }
        guard question.event.allowsSound else { return .eventOff }
        // Nobody wants it in what is being recorded, or said.
        if desk.isRecording { return .recording }
        if isCritical(question.payload, settings) { return nil }
        if question.payload.interruptionLevel == .passive { return .passive }
        if circumstances.isQuiet || desk.isQuiet, !comesThrough(question.payload, settings) { return .doNotDisturb }
        if circumstances.isSilent { return .silent }
        return desk.isMuted || desk.lacksEventSounds ? .muted : nil
    }

    /// Whether a notification may disturb who does not want to be disturbed.
    private static func comesThrough(_ payload: Payload, _ settings: AppSettings) -> Bool {
        isCritical(payload, settings) || payload.interruptionLevel == .timeSensitive && settings.allowsTimeSensitive
    }

    private static func isCritical(_ payload: Payload, _ settings: AppSettings) -> Bool {
        settings.allowsCritical && (payload.interruptionLevel == .critical || payload.sound?.isCritical == true)
    }

    /// Why nothing happens, when nothing does: what keeps the alert away is what a person missed most.
    private static func reason(for effects: [Effect]) -> SuppressionReason? {
        guard effects.allSatisfy({ $0.obstacle != nil }) else { return nil }
        let order: [Effect.Part] = [.alert, .sound, .badge]
        return order.compactMap { part in effects.first { $0.part == part }?.obstacle }.first
    }

    /// What becomes of each part, as the inbox has it.
    package var effectsText: String { effects.map(\.text).joined(separator: " ") }

    /// Which of alert and sound happen.
    var loudParts: Set<Effect.Part> { Set(effects.filter { $0.obstacle == nil && $0.part != .badge }.map(\.part)) }

    /// Whether something must be presented at a moment; a badge is not: it is written with the inbox entry.
    package var needsPresentation: Bool { alert != nil || sound != nil }
}

extension Decision {
    /// Keeps parts away that would have happened, because of the notification itself.
    package mutating func withhold(_ parts: Set<Effect.Part>, _ reason: SuppressionReason) {
        if parts.contains(.badge) { (badge, keepsBadge) = (nil, false) }
        if parts.contains(.sound) { sound = nil }
        if parts.contains(.alert) { alert = nil }
        for index in effects.indices where effects[index].obstacle == nil && parts.contains(effects[index].part) {
            effects[index].obstacle = reason
        }
        suppression = suppression ?? reason
    }
}

extension Sound {
    /// The person's choice goes before what the notification names.
    fileprivate init(_ sound: Payload.Sound, _ choice: SoundChoice) {
        switch choice {
        case .named(let name): self = .named(name)
        case .asSent, .none: self = sound.name.map(Sound.named) ?? .standard
        }
    }
}
