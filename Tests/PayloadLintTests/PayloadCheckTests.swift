// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore
import TestSupport
import Testing

struct PayloadCheckTests {
    @Test(arguments: CheckSample.all)
    func `a check finds its problem, and nothing in a payload that is nearly the same`(sample: CheckSample) {
        let firing = findings(sample.firing, sample.pushType, appName: sample.appName)
        #expect(firing.contains { $0.check == sample.check }, "\(firing.map(\.line))")
        let clean = findings(sample.clean, sample.pushType, appName: sample.appName)
        #expect(!clean.contains { $0.check == sample.check }, "\(clean.map(\.line))")
    }

    @Test func `there are forty-six checks, and each has a sample or a test of its own`() {
        let letters = ["P": 1...10, "T": 0...7, "M": 1...12, "O": 1...1, "B": 1...9, "G": 1...2, "S": 1...4]
        let expected = letters.flatMap { letter, numbers in
            numbers.map { "L-\(letter)\($0 < 10 ? "0" : "")\($0)" }
        }
        #expect(expected.count == 46)
        let identifiers = PayloadCheck.allCases.map(\.rawValue)
        #expect(identifiers.filter { !$0.hasPrefix("L-K") }.sorted() == expected.sorted())
        let elsewhere: [PayloadCheck] = [.tooManyAlerts, .repeatedAlert, .unsupportedPart, .cancelPlace, .soundFile]
        #expect(Set(CheckSample.all.map(\.check)).union(elsewhere) == Set(PayloadCheck.allCases))
    }
}

/// Returns the linter's findings for a payload.
func findings(
    _ payload: String, _ pushType: PushType? = .alert, appName: String? = nil, history: PayloadHistory? = nil
) -> [PayloadFinding] {
    findings(bytes(payload), pushType, appName: appName, history: history)
}

/// Returns the linter's findings for a payload in bytes.
func findings(
    _ payload: [UInt8], _ pushType: PushType? = .alert, appName: String? = nil, history: PayloadHistory? = nil
) -> [PayloadFinding] {
    PayloadLinter.findings(payload: payload.span, pushType: pushType, appName: appName, history: history)
}
