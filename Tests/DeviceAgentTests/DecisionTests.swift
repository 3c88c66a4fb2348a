// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import PushCore
import TestSupport
import Testing

@Suite struct DecisionTests {
    /// Every combination of what may be there: 2 × 9 × 16 × 2.
    static let cases: [Case] = [true, false].flatMap { isMasterOn in
        allSwitches.flatMap { switches in
            (0..<16).map { Case(isMasterOn: isMasterOn, switches: switches, parts: $0) }
        }
    }

    private static let allSwitches: [AppSwitches?] = {
        var all: [AppSwitches?] = [nil]
        for bits in 0..<8 {
            all.append(AppSwitches(allowsBadge: bits & 1 > 0, allowsSound: bits & 2 > 0, allowsAlert: bits & 4 > 0))
        }
        return all
    }()

    struct Case: Sendable, CustomTestStringConvertible {
        var isMasterOn: Bool
        var switches: AppSwitches?
        /// Bits: badge, sound, alert, content-available.
        var parts: Int
        var hasBadge: Bool { parts & 1 > 0 }
        var hasSound: Bool { parts & 2 > 0 }
        var hasAlert: Bool { parts & 4 > 0 }

        var payload: Payload {
            Payload(
                alert: hasAlert ? .init(body: "x") : nil, badge: hasBadge ? 3 : nil, sound: hasSound ? .standard : nil,
                isContentAvailable: parts & 8 > 0)
        }

        var testDescription: String { "master \(isMasterOn), switches \(String(describing: switches)), parts \(parts)" }
    }

    @Test(arguments: cases) func `each part appears exactly where master, app and payload all have it`(_ row: Case) {
        let decision = Decision(row.payload, switches: row.switches, isMasterOn: row.isMasterOn)
        let allowed = row.isMasterOn ? row.switches : nil
        #expect(decision.badge == (row.hasBadge && allowed?.allowsBadge == true ? 3 : nil))
        #expect(decision.sound == (row.hasSound && allowed?.allowsSound == true ? .standard : nil))
        #expect(decision.showsAlert == (row.hasAlert && allowed?.allowsAlert == true))
        let happens = decision.badge != nil || decision.sound != nil || decision.showsAlert
        #expect((decision.suppression == nil) == happens)
        #expect(decision.needsPresentation == (decision.sound != nil || decision.showsAlert))
    }

    @Test(arguments: cases) func `the reason for showing nothing is the first of those that hold`(_ row: Case) {
        let decision = Decision(row.payload, switches: row.switches, isMasterOn: row.isMasterOn)
        guard let reason = decision.suppression else { return }
        let expected: SuppressionReason =
            if row.switches == nil {
                .unknownApp
            } else if row.parts & 7 == 0 {
                .nothingToShow
            } else if !row.isMasterOn {
                .masterOff
            } else {
                .switchedOff
            }
        #expect(reason == expected)
    }

    @Test func `a badge of zero is a badge`() {
        #expect(Decision(Payload(badge: 0), switches: .all, isMasterOn: true).badge == 0)
    }

    @Test(arguments: [Payload.InterruptionLevel.critical, .timeSensitive])
    func `nothing in a payload overrides a switch`(level: Payload.InterruptionLevel) {
        let payload = Payload(
            alert: .init(body: "x"), sound: .init(name: "siren", isCritical: true, volume: 1), interruptionLevel: level)
        let mute = AppSwitches(allowsBadge: true, allowsSound: false, allowsAlert: false)
        #expect(Decision(payload, switches: mute, isMasterOn: true).suppression == .switchedOff)
        #expect(Decision(payload, switches: .all, isMasterOn: false).suppression == .masterOff)
        #expect(Decision(payload, switches: .all, isMasterOn: true).sound == .named("siren"))
    }

    @Test func `the page of the device protocol names the reasons of the agent, and no others`() {
        let page = readText("\(RepositoryPaths.root)/docs/reference/device-protocol.md")
        let table = page.split(separator: "| `reason` |").dropFirst().first?.split(separator: "\n\n").first ?? ""
        let rows = table.matches(of: /\n\| `([a-z-]+)` \|/).map { String($0.1) }
        #expect(rows.sorted() == SuppressionReason.allCases.map(\.rawValue).sorted())
        let examples = page.matches(of: /"outcome": "suppressed", "reason": "([^"]+)"/).map { String($0.1) }
        #expect(!examples.isEmpty && Set(examples).isSubset(of: rows))
    }
}
