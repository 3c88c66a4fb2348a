// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore

/// The invariants of the linter for arbitrary bytes.
///
/// FuzzTesting compiles this file too.
enum PayloadLintFuzzCheck {
    /// Checks that findings are few and printable, and that exactly invalid JSON objects are reported as malformed.
    @Sendable static func findings(_ input: [UInt8]) -> String? {
        let isMalformed = (try? JSONValidator.validateObject(input.span)) == nil
        var history = PayloadHistory(now: .unixEpoch)
        history.note(input.span, pushType: .alert)
        for type in [nil, PushType.alert, .background, .liveactivity, .mdm] {
            let findings = PayloadLinter.findings(
                payload: input.span, pushType: type, appName: "Mail", history: history)
            if findings.count > PayloadLinter.findingCountMax { return "There are too many findings." }
            if isMalformed, findings.map(\.check) != [.malformed] { return "It is not said that this is no object." }
            for finding in findings {
                if finding.text.isEmpty || finding.text.utf8.count > 200 { return "A text is too long or empty." }
                let line = finding.line.utf8
                if !line.allSatisfy({ 0x20...0x7E ~= $0 }) { return "A finding cannot be printed." }
            }
        }
        return nil
    }
}
