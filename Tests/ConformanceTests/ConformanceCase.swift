// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// One row of docs/reference/conformance.md, which is made from the cases in python/cases.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    /// For example `T-01`.
    let id: String
    /// What is asked, all else being right.
    let request: String
    /// What must be answered.
    let wanted: String

    var testDescription: String { "\(id): \(request)" }

    /// Every case, as the page has it; a test compares the page with the code.
    static let all: [ConformanceCase] = readText(ConformancePage.path).split(separator: "\n").compactMap { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count >= 4, cells[0].wholeMatch(of: /[A-Z]-\d\d/) != nil else { return nil }
        return ConformanceCase(id: cells[0], request: cells[1], wanted: cells[2])
    }
}
