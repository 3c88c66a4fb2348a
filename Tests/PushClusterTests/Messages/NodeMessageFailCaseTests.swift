// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Replays the fuzzer's seed inputs and the failing inputs that it found.
struct NodeMessageFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../FuzzTesting/FailCases/node-message").standardizedFileURL

    @Test func `no fail case violates an invariant, wherever it ends`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            for count in 0...bytes.count {
                #expect(NodeMessageFuzzCheck.packet(Array(bytes[..<count])) == nil, "\(file.lastPathComponent)")
            }
        }
    }
}
