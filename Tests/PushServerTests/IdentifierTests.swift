// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushServer

@Suite struct IdentifierTests {
    @Test func `ids are ten characters of A to Z and 0 to 9, and differ`() {
        let ids = (0..<100).map { _ in Identifier.make() }
        #expect(ids.allSatisfy(Identifier.isValid))
        #expect(Set(ids).count == ids.count)
    }

    @Test(arguments: ["", "ABCDEFGHI", "ABCDEFGHIJK", "abcdefghij", "ABCDEFGHI-", "ÄBCDEFGHI"])
    func `anything else is no id`(text: String) { #expect(!Identifier.isValid(text)) }

    @Test func `an enrolment code means the same however it is typed`() {
        let hash = EnrolmentCode.hash("0123-1ABC-DEFG")
        #expect(EnrolmentCode.hash("o123 iabc defg") == hash)
        #expect(EnrolmentCode.hash("0123LABCDEFG") == hash)
        #expect(EnrolmentCode.hash("0123-1ABC-DEFH") != hash)
    }

    @Test func `enrolment codes have three groups of four and no letter that looks like another`() {
        for _ in 0..<100 {
            let groups = EnrolmentCode.make().split(separator: "-")
            #expect(groups.count == 3)
            #expect(groups.allSatisfy { $0.count == 4 && !$0.contains(where: "ILOU".contains) })
        }
    }
}
