// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Replays the bytes that a fuzzer starts from and those that it once found.
struct WebSocketFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases/websocket").standardizedFileURL

    @Test func `no case breaks what must hold for any bytes, wherever it is cut`() throws {
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
