// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import Testing

struct RejectionReasonTests {
    @Test(arguments: RejectionReason.allCases)
    func `each reason has an error status and one sentence of advice`(reason: RejectionReason) {
        #expect([400, 403, 404, 405, 410, 413, 429, 500, 503].contains(reason.status))
        #expect(reason.advice.hasSuffix("."))
        #expect(reason.advice.first?.isUppercase == true)
        #expect(!reason.rawValue.isEmpty)
    }
}
