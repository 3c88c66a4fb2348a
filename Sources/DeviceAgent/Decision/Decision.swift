// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore

/// The decision on how to present a notification, from its payload, the settings and the presentation context alone.
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
    /// Whether only the user's "do not disturb" mode held back the alert, and only because the app's setting
    /// `time-sensitive` is off.
    var isHeldBack = false
    /// The parts of the notification and their outcomes, for the inbox.
    var effects: [Effect] = []

    /// The input of a decision.
    struct Input: Sendable, Equatable {
        /// The payload from the provider.
        var payload: Payload
        /// The settings of the app; nil if no app is registered for the topic.
        var settings: AppSettings?
        /// The switches of the notification's event type.
        var event = EventSwitches()
        /// The settings and states that apply to all apps.
        var context = PresentationContext()

        init(
            _ payload: Payload, settings: AppSettings?, event: EventSwitches = EventSwitches(),
            context: PresentationContext = PresentationContext()
        ) {
            self.payload = payload
            self.settings = settings
            self.event = event
            self.context = context
        }
    }

    /// A part of a notification with its outcome.
    typealias Effect = PresentationEffect

    /// Decides how to present a notification.
    init(_ input: Input) {
        let payload = input.payload
        suppression = Self.reasonAgainstAll(input)
        keepsBadge = input.event.allowsBadge
        guard suppression == nil, let settings = input.settings else { return }
        if let count = payload.badge {
            let reason = Self.reasonAgainstBadge(settings, input.event)
            if reason == nil { badge = count }
            effects.append(Effect(.badge, reason))
        } else if payload.hasUnreadableBadge {
            effects.append(Effect(.badge, .badBadge))
        }
        if let sent = payload.sound {
            let reason = Self.reasonAgainstSound(input, settings)
            if reason == nil { sound = Sound(sent, settings.sound) }
            effects.append(Effect(.sound, reason))
        }
        if payload.alert != nil {
            let reason = Self.reasonAgainstAlert(input, settings)
            if reason == nil {
                alert = settings.alertStyle
                let desktop = input.context.desktopState
                hidesTexts = desktop.isLocked && !settings.showsPreview
                mayTakeFocus = !desktop.isRecording && (!desktop.isQuiet || Self.passesDoNotDisturb(payload, settings))
            }
            isHeldBack = reason == .doNotDisturb && payload.interruptionLevel == .timeSensitive
            effects.append(Effect(.alert, reason))
        }
        suppression = Self.reason(for: effects)
    }

    /// Returns the reason that suppresses the whole notification, whatever the app's settings are.
    private static func reasonAgainstAll(_ input: Input) -> SuppressionReason? {
        guard input.settings != nil else { return .unknownApp }
        guard input.payload.isPresentable else { return .nothingToShow }
        return input.context.isMasterOn ? nil : .masterOff
    }

    private static func reasonAgainstBadge(_ settings: AppSettings, _ event: EventSwitches) -> SuppressionReason? {
        guard settings.allowsBadge else { return .turnedOff }
        return event.allowsBadge ? nil : .eventOff
    }

    private static func reasonAgainstAlert(_ input: Input, _ settings: AppSettings) -> SuppressionReason? {
        guard settings.allowsAlert else { return .turnedOff }
        guard input.event.allowsAlert else { return .eventOff }
        if isMuted(input, settings) { return .appMuted }
        return input.context.isQuiet && !passesDoNotDisturb(input.payload, settings) ? .doNotDisturb : nil
    }

    private static func reasonAgainstSound(_ input: Input, _ settings: AppSettings) -> SuppressionReason? {
        let (context, desktop) = (input.context, input.context.desktopState)
        guard settings.allowsSound, settings.sound != .none else { return .turnedOff }
        guard input.event.allowsSound else { return .eventOff }
        // A sound would be audible in the recording or the call.
        if desktop.isRecording { return .recording }
        if isCritical(input.payload, settings) { return nil }
        if isMuted(input, settings) { return .appMuted }
        if input.payload.interruptionLevel == .passive { return .passive }
        if context.isQuiet || desktop.isQuiet, !passesDoNotDisturb(input.payload, settings) { return .doNotDisturb }
        if context.isSilent { return .silent }
        return desktop.isMuted || desktop.lacksEventSounds ? .muted : nil
    }

    /// Returns whether a notification passes the "do not disturb" mode.
    private static func passesDoNotDisturb(_ payload: Payload, _ settings: AppSettings) -> Bool {
        isCritical(payload, settings) || payload.interruptionLevel == .timeSensitive && settings.allowsTimeSensitive
    }

    /// Returns whether the user muted the app, which only critical notifications pass.
    private static func isMuted(_ input: Input, _ settings: AppSettings) -> Bool {
        settings.mute.holds(at: input.context.now) && !isCritical(input.payload, settings)
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
        guard effects.allSatisfy({ $0.suppressionReason != nil }) else { return nil }
        let order: [Effect.Part] = [.alert, .sound, .badge]
        return order.compactMap { part in effects.first { $0.part == part }?.suppressionReason }.first
    }

    /// The outcomes of all parts as the inbox stores them.
    var effectsText: String { effects.map(\.text).joined(separator: " ") }

    /// The parts among alert and sound that are presented.
    var presentedAlertAndSound: Set<Effect.Part> {
        Set(effects.filter { $0.suppressionReason == nil && $0.part != .badge }.map(\.part))
    }

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
        for index in effects.indices
        where effects[index].suppressionReason == nil && parts.contains(effects[index].part) {
            effects[index].suppressionReason = reason
        }
        suppression = suppression ?? reason
    }
}
