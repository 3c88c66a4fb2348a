// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// One row of docs/reference/conformance.md, which is generated from the cases in python/cases.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    /// The ID of the case, for example `T-01`.
    let id: String
    /// The request, which is valid in all other respects.
    let request: String
    /// The required answer.
    let wanted: String

    var testDescription: String { "\(id): \(request)" }

    /// All cases of the page.
    ///
    /// Another test compares the page with the code.
    static let all: [ConformanceCase] = readText(ConformancePage.path).split(separator: "\n").compactMap { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count >= 4, cells[0].wholeMatch(of: /[A-Z]-\d\d/) != nil else { return nil }
        return ConformanceCase(id: cells[0], request: cells[1], wanted: cells[2])
    }
}
