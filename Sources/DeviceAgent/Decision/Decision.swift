// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore

/// The decision on how to present a notification, from its payload, the settings and the circumstances alone.
///
/// Nothing in a payload overrides a choice of the user.
package struct Decision: Sendable, Equatable {
    /// The number to put on the app's icon; nil keeps the present one.
    var badge: UInt32?
    /// Whether the app's badge number changes, even if its icon may not show it now.
    ///
    /// A number that was withheld for this notification alone must not appear on the icon later.
    var keepsBadge = true
    /// The sound to play.
    var sound: Sound?
    /// The style of the alert; nil if no alert is shown.
    var alert: AlertStyle?
    /// Whether the alert shows only the app's name, because the screen is locked.
    var hidesTexts = false
    /// Whether the alert may be a window that takes the keyboard.
    ///
    /// False while a call or a recording is running. Also false in the desktop's own "do not disturb" mode, unless the
    /// notification may break through it.
    var mayTakeFocus = true
    /// The reason why nothing at all is presented; nil if something is.
    var suppression: SuppressionReason?
    /// The parts of the notification and their outcomes, for the inbox.
    var effects: [Effect] = []

    /// The input of a decision.
    struct Question: Sendable, Equatable {
        /// The payload from the provider.
        var payload: Payload
        /// The settings of the app; nil if no app is registered for the topic.
        var settings: AppSettings?
        /// The switches of the notification's event type.
        var event = EventSwitches()
        /// The settings and states that apply to all apps.
        var circumstances = PresentationContext()

        init(
            _ payload: Payload, settings: AppSettings?, event: EventSwitches = EventSwitches(),
            circumstances: PresentationContext = PresentationContext()
        ) {
            self.payload = payload
            self.settings = settings
            self.event = event
            self.circumstances = circumstances
        }
    }

    /// A part of a notification with its outcome.
    typealias Effect = PresentationEffect

    /// Decides how to present a notification.
    init(_ question: Question) {
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

    /// Returns the reason that suppresses the whole notification, whatever the app's settings are.
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
        // A sound would be audible in the recording or the call.
        if desk.isRecording { return .recording }
        if isCritical(question.payload, settings) { return nil }
        if question.payload.interruptionLevel == .passive { return .passive }
        if circumstances.isQuiet || desk.isQuiet, !comesThrough(question.payload, settings) { return .doNotDisturb }
        if circumstances.isSilent { return .silent }
        return desk.isMuted || desk.lacksEventSounds ? .muted : nil
    }

    /// Returns whether a notification passes the "do not disturb" mode.
    private static func comesThrough(_ payload: Payload, _ settings: AppSettings) -> Bool {
        isCritical(payload, settings) || payload.interruptionLevel == .timeSensitive && settings.allowsTimeSensitive
    }

    private static func isCritical(_ payload: Payload, _ settings: AppSettings) -> Bool {
        settings.allowsCritical && (payload.interruptionLevel == .critical || payload.sound?.isCritical == true)
    }

    /// Returns the reason why nothing is presented, or nil if something is.
    ///
    /// The reason of the alert comes first, because the alert is the part that the user misses most.
    ///
    /// - Parameter effects: The parts of the notification with their outcomes.
    /// - Returns: The reason of the first part in the order alert, sound, badge.
    private static func reason(for effects: [Effect]) -> SuppressionReason? {
        guard effects.allSatisfy({ $0.obstacle != nil }) else { return nil }
        let order: [Effect.Part] = [.alert, .sound, .badge]
        return order.compactMap { part in effects.first { $0.part == part }?.obstacle }.first
    }

    /// The outcomes of all parts as the inbox stores them.
    var effectsText: String { effects.map(\.text).joined(separator: " ") }

    /// The parts among alert and sound that are presented.
    var loudParts: Set<Effect.Part> { Set(effects.filter { $0.obstacle == nil && $0.part != .badge }.map(\.part)) }

    /// Whether a presenter must show or play something.
    ///
    /// A badge needs none: it is written with the inbox entry.
    var needsPresentation: Bool { alert != nil || sound != nil }
}

extension Decision {
    /// Withholds parts that would have been presented, because of the notification itself.
    mutating func withhold(_ parts: Set<Effect.Part>, _ reason: SuppressionReason) {
        if parts.contains(.badge) { (badge, keepsBadge) = (nil, false) }
        if parts.contains(.sound) { sound = nil }
        if parts.contains(.alert) { alert = nil }
        for index in effects.indices where effects[index].obstacle == nil && parts.contains(effects[index].part) {
            effects[index].obstacle = reason
        }
        suppression = suppression ?? reason
    }
}
