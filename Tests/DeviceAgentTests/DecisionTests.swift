// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import TestSupport
import Testing

/// Checks all combinations of inputs against a second, independent description of the rules.
@Suite struct DecisionTests {
    /// One combination of inputs.
    ///
    /// Each number selects one value of several.
    struct Case: Sendable, CustomTestStringConvertible {
        var parts: Int
        var app: Int
        var event: Int
        var level: Payload.InterruptionLevel
        var moment: Int
        var desk: Int
        /// Whether the sound, if there is one, is critical.
        var isSoundCritical = false

        var hasBadge: Bool { parts & 1 > 0 }
        var hasSound: Bool { parts & 2 > 0 }
        var hasAlert: Bool { parts & 4 > 0 }

        var payload: Payload {
            Payload(
                alert: hasAlert ? .init(body: "x") : nil, badge: hasBadge ? 3 : nil,
                sound: hasSound ? .init(isCritical: isSoundCritical) : nil, interruptionLevel: level)
        }

        /// The settings as bits: badge, sound, time-sensitive, critical; then the style.
        var settings: AppSettings {
            var settings = AppSettings()
            settings.allowsBadge = app & 1 == 0
            settings.allowsSound = app & 2 == 0
            settings.allowsTimeSensitive = app & 4 == 0
            settings.allowsCritical = app & 8 > 0
            settings.alertStyle = AlertStyle.allCases[app / 16]
            return settings
        }

        var switches: EventSwitches {
            EventSwitches(allowsBadge: event & 1 == 0, allowsSound: event & 2 == 0, allowsAlert: event & 4 == 0)
        }

        var context: PresentationContext {
            PresentationContext(
                isMasterOn: moment & 1 == 0, isQuiet: moment & 2 > 0, isSilent: moment & 4 > 0,
                desktopState: DesktopState(
                    isLocked: desk & 1 > 0, isQuiet: desk & 2 > 0, isMuted: desk & 4 > 0, isRecording: desk & 8 > 0))
        }

        var decision: Decision {
            Decision(
                Decision.Input(payload, settings: settings, event: switches, context: context))
        }

        var testDescription: String {
            "parts \(parts), app \(app), event \(event), level \(level), moment \(moment), desk \(desk)"
                + (isSoundCritical ? ", critical sound" : "")
        }
    }

    /// Runs the 8 × 48 × 8 × 8 × 16 cases of a level, or the quarter of them in which a critical sound matters.
    private static func forEachCase(
        _ level: Payload.InterruptionLevel, isSoundCritical: Bool = false, _ body: (Case) -> Void
    ) {
        let parts = isSoundCritical ? [2, 6] : Array(0..<8)
        for part in parts {
            for app in 0..<48 {
                for event in 0..<8 {
                    for moment in 0..<8 {
                        for desk in 0..<16 {
                            body(
                                Case(
                                    parts: part, app: app, event: event, level: level, moment: moment, desk: desk,
                                    isSoundCritical: isSoundCritical))
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: Payload.InterruptionLevel.allCases, [false, true])
    func `each effect appears exactly when all rules permit it`(
        level: Payload.InterruptionLevel, isSoundCritical: Bool
    ) {
        var wrong: [String] = []
        Self.forEachCase(level, isSoundCritical: isSoundCritical) { row in
            let (decision, settings, desk) = (row.decision, row.settings, row.context.desktopState)
            let isOn = row.context.isMasterOn
            // Without the user's permission, a payload that claims to be critical is an ordinary one.
            let isCritical = settings.allowsCritical && (level == .critical || isSoundCritical && row.hasSound)
            let passes = isCritical || level == .timeSensitive && settings.allowsTimeSensitive
            let badge = isOn && row.hasBadge && settings.allowsBadge && row.switches.allowsBadge
            let alert =
                isOn && row.hasAlert && settings.alertStyle != .none && row.switches.allowsAlert
                && (passes || !row.context.isQuiet)
            let isAudible =
                isCritical
                || level != .passive && !row.context.isSilent && !desk.isMuted
                    && (passes || !row.context.isQuiet && !desk.isQuiet)
            let sound =
                isOn && row.hasSound && settings.allowsSound && row.switches.allowsSound && !desk.isRecording
                && isAudible
            let isRight =
                decision.badge == (badge ? 3 : nil) && decision.sound == (sound ? .standard : nil)
                && decision.alert == (alert ? settings.alertStyle : nil)
                && decision.hidesTexts == (alert && desk.isLocked)
                && decision.mayTakeFocus == !(alert && (desk.isRecording || desk.isQuiet && !passes))
                && (decision.suppression == nil) == (badge || sound || alert)
                && decision.needsPresentation == (sound || alert)
                && decision.isHeldBack
                    == (isOn && row.hasAlert && settings.alertStyle != .none && row.switches.allowsAlert
                        && row.context.isQuiet && level == .timeSensitive && !passes)
            if !isRight { wrong.append(row.testDescription) }
        }
        #expect(wrong.isEmpty, "\(wrong.count) are wrong, such as \(wrong.first ?? "")")
    }

    @Test(arguments: Payload.InterruptionLevel.allCases)
    func `each suppressed effect has a reason, and effects that appear have none`(level: Payload.InterruptionLevel) {
        var wrong: [String] = []
        Self.forEachCase(level) { row in
            let decision = row.decision
            guard row.context.isMasterOn, row.parts > 0 else { return }
            let reasons = Dictionary(
                decision.effects.map { ($0.part, $0.suppressionReason) }, uniquingKeysWith: { first, _ in first })
            let isTold =
                reasons.count == row.parts.nonzeroBitCount
                && (reasons[.badge] ?? nil == nil) == (decision.badge != nil || !row.hasBadge)
                && (reasons[.sound] ?? nil == nil) == (decision.sound != nil || !row.hasSound)
                && (reasons[.alert] ?? nil == nil) == (decision.alert != nil || !row.hasAlert)
            if !isTold { wrong.append(row.testDescription) }
        }
        #expect(wrong.isEmpty, "\(wrong.count) are wrong, such as \(wrong.first ?? "")")
    }

    @Test func `the reason for showing nothing is the first that applies`() {
        let nothing = Payload()
        let alert = Payload(alert: .init(body: "x"))
        let off = PresentationContext(isMasterOn: false)
        func reason(
            _ payload: Payload, _ settings: AppSettings?, _ context: PresentationContext = PresentationContext()
        )
            -> SuppressionReason?
        {
            Decision(Decision.Input(payload, settings: settings, context: context)).suppression
        }
        var mute = AppSettings()
        mute.alertStyle = .none
        #expect(reason(alert, nil, off) == .unknownApp)
        #expect(reason(nothing, AppSettings(), off) == .nothingToShow)
        #expect(reason(alert, mute, off) == .masterOff)
        #expect(reason(alert, mute, PresentationContext(isQuiet: true)) == .turnedOff)
        #expect(reason(alert, AppSettings(), PresentationContext(isQuiet: true)) == .doNotDisturb)
        #expect(reason(alert, AppSettings()) == nil)
    }

    @Test func `a muted app is silent until the end, and only a permitted critical alert passes`() {
        func decision(_ level: Payload.InterruptionLevel, now: Int64, _ change: (inout AppSettings) -> Void = { _ in })
            -> Decision
        {
            var payload = Payload(alert: .init(body: "x"), badge: 3, sound: .init(name: "default"))
            payload.interruptionLevel = level
            var settings = AppSettings()
            settings.mute = .until(Timestamp(unixSeconds: 100))
            change(&settings)
            let context = PresentationContext(isQuiet: true, now: Timestamp(unixSeconds: now))
            return Decision(Decision.Input(payload, settings: settings, context: context))
        }
        let muted = decision(.active, now: 99)
        #expect(muted.alert == nil && muted.sound == nil && muted.badge == 3)
        #expect(muted.effectsText == "badge sound:app-muted alert:app-muted")
        let sensitive = decision(.timeSensitive, now: 99) { $0.allowsTimeSensitive = true }
        #expect(sensitive.effectsText == "badge sound:app-muted alert:app-muted")
        #expect(!decision(.timeSensitive, now: 99).isHeldBack)
        #expect(decision(.critical, now: 99).effectsText == "badge sound:app-muted alert:app-muted")
        #expect(decision(.critical, now: 99) { $0.allowsCritical = true }.effectsText == "badge sound alert")
        #expect(decision(.active, now: 100).effectsText == "badge sound:do-not-disturb alert:do-not-disturb")
        #expect(decision(.active, now: 99) { $0.alertStyle = .none }.effectsText.contains("alert:switched-off"))
    }

    @Test func `an invalid badge changes nothing and is reported`() {
        let settings = AppSettings()
        let alone = Decision(Decision.Input(Payload(hasUnreadableBadge: true), settings: settings))
        #expect(alone.badge == nil && alone.suppression == .badBadge && alone.effectsText == "badge:bad-badge")
        let beside = Decision(
            Decision.Input(Payload(alert: .init(body: "x"), hasUnreadableBadge: true), settings: settings))
        #expect(beside.alert == .banner && beside.suppression == nil && beside.effectsText == "badge:bad-badge alert")
    }

    @Test func `a badge of zero is a badge`() {
        #expect(Decision(Decision.Input(Payload(badge: 0), settings: AppSettings())).badge == 0)
    }

    @Test func `the user's choice of sound overrides the notification's`() {
        let payload = Payload(alert: .init(body: "x"), sound: .init(name: "siren", isCritical: true, volume: 1))
        func sound(_ choice: SoundChoice) -> Sound? {
            var settings = AppSettings()
            settings.sound = choice
            return Decision(Decision.Input(payload, settings: settings)).sound
        }
        #expect(sound(.asSent) == .named("siren") && sound(.named("drop")) == .named("drop") && sound(.none) == nil)
    }

    @Test func `readable text on a locked screen is the user's choice`() {
        var settings = AppSettings()
        settings.showsPreview = true
        let locked = PresentationContext(desktopState: DesktopState(isLocked: true))
        let input = Decision.Input(Payload(alert: .init(body: "x")), settings: settings, context: locked)
        #expect(!Decision(input).hidesTexts)
    }

    @Test func `the page of the device protocol names exactly the agent's reasons`() {
        let page = readText("\(RepositoryPaths.root)/docs/reference/device-protocol.md")
        let table = page.split(separator: "| `reason` |").dropFirst().first?.split(separator: "\n\n").first ?? ""
        let rows = table.matches(of: /\n\| `([a-z-]+)` \|/).map { String($0.1) }
        #expect(rows.sorted() == SuppressionReason.allCases.map(\.rawValue).sorted())
        let examples = page.matches(of: /"outcome": "suppressed", "reason": "([^"]+)"/).map { String($0.1) }
        #expect(!examples.isEmpty && Set(examples).isSubset(of: rows))
    }
}
