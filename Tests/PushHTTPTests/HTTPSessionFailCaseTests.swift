// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Replays the fuzzer's seed sessions and the failing sessions that it found.
struct HTTPSessionFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases").standardizedFileURL

    private static func check(_ target: String, _ check: ([UInt8]) -> String?) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: directory.appending(path: target), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            let fault = check(bytes)
            #expect(fault == nil, "\(file.lastPathComponent): \(fault ?? "")")
            // The same bytes run with other choices.
            for choice in UInt8(0)..<64 {
                let fault = check((0..<16).map { choice &* 31 &+ $0 &* choice } + bytes.dropFirst(16))
                #expect(fault == nil, "\(file.lastPathComponent), choice \(choice): \(fault ?? "")")
            }
        }
    }

    @Test func `no HTTP 1 fail case violates an invariant of a session`() throws {
        try Self.check("http1-session", HTTPSessionFuzzCheck.http1)
    }

    @Test func `no HTTP 2 fail case violates an invariant of a session`() throws {
        try Self.check("http2-session", HTTPSessionFuzzCheck.http2)
    }
}
