// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Replays the fuzzer's seed inputs and the failing inputs that it found.
struct PayloadLintFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases/payload-checks").standardizedFileURL

    @Test func `no fail case violates an invariant, wherever it ends`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            #expect(PayloadLintFuzzCheck.findings(bytes) == nil, "\(file.lastPathComponent)")
            for count in 0..<min(bytes.count, 512) {
                #expect(PayloadLintFuzzCheck.findings(Array(bytes[..<count])) == nil, "\(file.lastPathComponent)")
            }
        }
    }

    @Test func `random bytes violate no invariant`() {
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<10 {
                #expect(PayloadLintFuzzCheck.findings(generator.bytes(countMax: 64)) == nil, "seed \(seed)")
                #expect(PayloadLintFuzzCheck.findings(bytes(generator.text(countMax: 32))) == nil, "seed \(seed)")
            }
        }
    }
}
