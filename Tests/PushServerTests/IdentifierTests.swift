// SPDX-License-Identifier: Apache-2.0

import PushAPI
import Testing

@testable import PushServer

@Suite struct IdentifierTests {
    @Test func `IDs are ten characters of A to Z and 0 to 9, and differ`() {
        let ids = (0..<100).map { _ in Identifier.make() }
        #expect(ids.allSatisfy(Identifier.isValid))
        #expect(Set(ids).count == ids.count)
    }

    @Test(arguments: ["", "ABCDEFGHI", "ABCDEFGHIJK", "abcdefghij", "ABCDEFGHI-", "ÄBCDEFGHI"])
    func `any other text is not a valid ID`(text: String) { #expect(!Identifier.isValid(text)) }

    @Test func `an enrolment code is read the same in any spelling`() {
        let hash = EnrolmentCode.hash("0123-1ABC-DEFG")
        #expect(EnrolmentCode.hash("o123 iabc defg") == hash)
        #expect(EnrolmentCode.hash("0123LABCDEFG") == hash)
        #expect(EnrolmentCode.hash("0123-1ABC-DEFH") != hash)
    }

    @Test func `an enrolment code has the same secret with its authority and without`() {
        let whole = EnrolmentCode(secret: "01231ABCDEFG", authorityFingerprint: [UInt8](repeating: 7, count: 32))
        #expect(EnrolmentCode.hash(whole.text) == EnrolmentCode.hash("0123-1ABC-DEFG"))
        #expect(EnrolmentCode.hash(whole.text + "0") != EnrolmentCode.hash("0123-1ABC-DEFG"))
    }

    @Test func `secrets of enrolment codes are twelve digits without look-alikes, and differ`() {
        let secrets = (0..<100).map { _ in EnrolmentCode.makeSecret() }
        #expect(secrets.allSatisfy { EnrolmentCode(typed: $0)?.secret == $0 && !$0.contains(where: "ILOU".contains) })
        #expect(Set(secrets).count == secrets.count)
    }
}
