// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Checks that docs/reference/conformance.md matches the cases.
///
/// `make pages` rewrites it.
struct GeneratedPagesConformanceTests {
    @Test func `the page of conformance cases is up to date`() async throws {
        let page = try await ConformancePage.render()
        if ProcessInfo.processInfo.environment["POSTHORN_UPDATE_PAGES"] == "1" {
            try Data(page.utf8).write(to: URL(fileURLWithPath: ConformancePage.path))
        }
        #expect(readText(ConformancePage.path) == page, "docs/reference/conformance.md is stale: run `make pages`")
    }
}
