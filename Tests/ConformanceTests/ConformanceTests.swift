// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PushCore
internal import TestSupport
internal import Testing

/// Checks every case of docs/reference/conformance.md, the provider API as APNs clients know it, against a real server.
@Suite(.tags(.slow)) struct ConformanceTests {
    @Test(arguments: ConformanceCase.all)
    func `a case gets the answer that clients rely on`(conformanceCase: ConformanceCase) async throws {
        let findings = try await ConformanceRun.findings.value
        let found = try #require(findings.found[conformanceCase.id], "the case did not run")
        #expect(found.isEmpty, "want \(conformanceCase.wanted), \(found)")
    }

    @Test func `every case required by clients and Apple's documents is present`() {
        #expect(Set(ConformanceCase.all.map(\.id)).count == ConformanceCase.all.count)
        #expect(ConformanceCase.all.count { !$0.id.hasPrefix("E-") } == 263)
    }

    /// The rejection reasons that no case of this suite provokes, each with an explanation.
    private static let unprovoked: [RejectionReason: String] = [
        .internalServerError: "nothing that a provider sends leads to it",
        .serviceUnavailable: "a full disk and an overloaded store lead to it: FullDiskTests, OverloadTests",
    ]

    @Test(arguments: RejectionReason.allCases)
    func `each rejection reason is sent over the wire for its real cause`(reason: RejectionReason) async throws {
        let cases = try await ConformanceRun.findings.value.reasons[reason.rawValue] ?? []
        #expect(cases.isEmpty == (Self.unprovoked[reason] != nil), "\(reason.rawValue) was given in \(cases)")
    }
}
