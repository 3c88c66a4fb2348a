// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Replays the fuzzer's seed inputs and the failing inputs that it found.
struct WebSocketFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases/websocket").standardizedFileURL

    @Test func `no fail case violates an invariant, wherever its bytes are split`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            #expect(WebSocketFuzzCheck.frames(bytes) == nil, "\(file.lastPathComponent)")
            for place in 0..<UInt8(min(bytes.count, 200)) {
                #expect(WebSocketFuzzCheck.frames([place] + bytes.dropFirst()) == nil, "\(file.lastPathComponent)")
                #expect(WebSocketFuzzCheck.frames(Array(bytes[..<Int(place)])) == nil, "\(file.lastPathComponent)")
            }
        }
    }
}
