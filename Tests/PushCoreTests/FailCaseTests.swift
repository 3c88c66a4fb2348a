// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Replays the bytes that a fuzzer starts from and those that it once found.
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

    @Test func `each check has its cases and each folder its check`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        // PushWebSocketTests has the check of frames, for which this module does not link wslay.
        #expect(Set(folders) == Set(FuzzChecks.all.keys).union(["websocket"]))
        #expect(Set(Self.cases.map(\.target)) == Set(FuzzChecks.all.keys))
    }

    @Test(arguments: cases)
    func `no case breaks what must hold for any bytes`(failCase: FailCase) throws {
        let check = try #require(FuzzChecks.all[failCase.target])
        #expect(check(Array(try Data(contentsOf: failCase.file))) == nil)
    }

    @Test(arguments: cases)
    func `no case that is cut off breaks it either`(failCase: FailCase) throws {
        let check = try #require(FuzzChecks.all[failCase.target])
        let bytes = Array(try Data(contentsOf: failCase.file))
        for count in 0..<min(bytes.count, 512) {
            #expect(check(Array(bytes[..<count])) == nil)
        }
    }

    @Test(arguments: FuzzChecks.all.keys.sorted())
    func `random bytes break nothing`(target: String) throws {
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
