// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Replays the fuzzer's seed inputs and the failing inputs that it found.
struct FailCaseTests {
    /// A file of `FuzzTesting/FailCases`.
    struct FailCase: Sendable, CustomTestStringConvertible {
        var target: String
        var file: URL
        var testDescription: String { "\(target)/\(file.lastPathComponent)" }
    }

    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases").standardizedFileURL

    static let cases: [FailCase] = FuzzChecks.all.keys.sorted().flatMap { target in
        let files = try? FileManager.default.contentsOfDirectory(
            at: directory.appending(path: target), includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.path < $1.path }.map { FailCase(target: target, file: $0) }
    }

    @Test func `each check has its fail cases, and each folder has its check`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        // The checks of other modules are in those modules' tests, which link what they need.
        let others: Set = [
            "websocket", "http1-session", "http2-session", "device-api", "agent-stream", "payload-checks",
            "proxy-header", "node-message",
        ]
        #expect(Set(folders) == Set(FuzzChecks.all.keys).union(others))
        #expect(Set(Self.cases.map(\.target)) == Set(FuzzChecks.all.keys))
    }

    @Test(arguments: cases)
    func `no fail case violates an invariant`(failCase: FailCase) throws {
        let check = try #require(FuzzChecks.all[failCase.target])
        #expect(check(Array(try Data(contentsOf: failCase.file))) == nil)
    }

    @Test(arguments: cases)
    func `no truncated fail case violates an invariant`(failCase: FailCase) throws {
        let check = try #require(FuzzChecks.all[failCase.target])
        let bytes = Array(try Data(contentsOf: failCase.file))
        for count in 0..<min(bytes.count, 512) {
            #expect(check(Array(bytes[..<count])) == nil)
        }
    }

    @Test(arguments: FuzzChecks.all.keys.sorted())
    func `random bytes violate no invariant`(target: String) throws {
        let check = try #require(FuzzChecks.all[target])
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<10 {
                #expect(check(generator.bytes(countMax: 64)) == nil, "seed \(seed)")
                #expect(check(Array(generator.text(countMax: 32).utf8)) == nil, "seed \(seed)")
            }
        }
    }
}
