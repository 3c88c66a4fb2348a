// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Replays the fuzzer's seed streams and the failing streams that it found.
///
/// Serialized, because they share an inbox.
@Suite(.serialized) struct AgentStreamFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases/agent-stream").standardizedFileURL

    @Test func `no fail case violates an invariant, wherever the stream is split`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            #expect(AgentStreamFuzzCheck.stream(bytes) == nil, "\(file.lastPathComponent)")
            for place in 0..<UInt8(min(bytes.count, 40)) {
                #expect(AgentStreamFuzzCheck.stream([place] + bytes.dropFirst()) == nil, "\(file.lastPathComponent)")
            }
        }
    }
}
