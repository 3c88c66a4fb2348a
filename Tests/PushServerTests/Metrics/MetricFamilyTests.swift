// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushServer

@Suite struct MetricFamilyTests {
    @Test func `names are unique, valid, and end with a base unit if they have one`() {
        let names = MetricFamily.all.map(\.queryName)
        #expect(Set(names).count == names.count)
        for family in MetricFamily.all {
            #expect(family.name.wholeMatch(of: /(posthorn|process)(_[a-z0-9]+)+/) != nil, "\(family.name)")
            let suffixes = ["total", "info", "count", "sum", "bucket", "milliseconds", "megabytes", "days"]
            #expect(!suffixes.contains { family.name.hasSuffix("_\($0)") }, "\(family.name)")
            #expect(family.kind != .histogram || family.unit == "seconds" || family.name.hasSuffix("_rows"))
            #expect(family.help.hasSuffix("."), "\(family.name)")
        }
    }

    @Test func `the index of each rejection reason is its place in the list`() {
        #expect(RejectionReason.allCases.map(\.index) == Array(RejectionReason.allCases.indices))
    }
}
