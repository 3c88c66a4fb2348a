// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import TestSupport
import Testing

/// Compares scans of plain letters and digits, which are read in runs, with scans of escaped ones, which are not.
struct TextScanTests {
    @Test func `the scan of a text does not depend on how its letters are escaped`() {
        let english = [
            "a", "B", "z", "7", "42", "'", " ", " ", " ", ".", "%", "?", "-", "Tap", "OK", "discount", "coupon", "sale",
            "promo", "iPhone", "3rd", "4Go", "ABC", "http", "e.g.", "0x1F", "the", "The", "report", "Lunch", "lunch",
            "supercalifragilisticexpialidocious",
        ]
        let all = english + ["’", "é", "ß", "中", "我", "nicht"]
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<40 {
                let pieces = round % 2 == 0 ? english : all
                let count = Int.random(in: 1...12, using: &generator)
                let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
                #expect(facts(bytes(text)) == facts(bytes(jsonEscaped(text))), "seed \(seed): \(text)")
            }
        }
    }

    /// Returns all results of a scan as text.
    private func facts(_ text: [UInt8]) -> String {
        let scan = TextScan(text.span, 0..<text.count, columnsPerLine: 28)
        return """
            \(scan.matches) \(scan.capitals) words \(scan.wordCount) wide \(scan.wideCount) \
            sentences \(scan.sentenceCount) \(scan.isLastSentenceEnded) last \(scan.lastMark as Any) \
            columns \(scan.columnCount) \(scan.columnCountTotal) lines \(scan.lineCount)
            """
    }
}
